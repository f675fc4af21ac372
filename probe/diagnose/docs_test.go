package diagnose

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/level"
)

// row is a line of the table on the page of verdicts.
type row struct {
	rules []Rule
	text  string
}

func page(t *testing.T) (rows []row) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|(.*)$").FindAllStringSubmatch(string(raw), -1) {
		r := row{text: line[2]}
		for _, name := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(line[1], -1) {
			r.rules = append(r.rules, Rule(name[1]))
		}
		rows = append(rows, r)
	}
	return rows
}

// The page on verdicts lists the table of rules, in its order.
func TestThePageListsTheRules(t *testing.T) {
	var got []Rule
	for _, r := range page(t) {
		got = append(got, r.rules...)
	}
	if want := RuleNames(); !slices.Equal(got, want) {
		t.Errorf("the page lists\n%v, want\n%v", got, want)
	}
}

// quoted are the thresholds that the page gives for each rule.
func quoted() map[Rule][]string {
	s := func(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }
	ms := func(n float64) string {
		if n >= 1000 {
			return fmt.Sprintf("%g s", n/1000)
		}
		return fmt.Sprintf("%g ms", n)
	}
	times := func(n float64) string { return fmt.Sprintf("%g times", n) }
	share := func(n float64) string { return fmt.Sprintf("%.3g %%", 100*n) }
	of := func(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
	tail := []string{times(tailTimes), ms(tailByMS), of(enoughForP99, "requests")}
	return map[Rule][]string{
		"all_fail":             {of(allFailFewest, "failures")},
		"client_bottleneck":    {share(clientShare), s(recent)},
		"some_fail":            {share(someFailShare), of(someFailFewest, "requests")},
		"rate_limits":          {of(rateLimitsFewest, "requests")},
		"overload":             {s(overloadSpan), s(overloadOthersSpan), share(overloadDone)},
		"kv_full":              {share(kvFullFrom), s(recent), s(kvRoomSpan), share(kvRoomFrom)},
		"prefix_lost":          {share(lostHits), of(enough, "requests"), of(lostHistory, "tokens"), share(lostFull), share(lostByTTFT)},
		"stalled":              {s(stallShortest), times(stallGaps)},
		"hang":                 {s(hangShortest), times(hangTTFTs), s(hangBad), s(hangBadUnknown)},
		RuleLoading:            {s(unservedBad)},
		"unserved":             {s(unservedBad)},
		"gpu_throttled":        {share(throttledFrom)},
		"gpu_idle":             {share(gpuIdleSM)},
		"clumps":               {share(clumpedShare)},
		"path_delay":           {times(pathTimes), ms(pathByMS), of(pathFewest, "requests")},
		"uneven_replicas":      {times(unevenTimes), of(unevenFewest, "requests")},
		"host_bound":           {share(hostBoundSM), share(hostBoundDRAM), times(hostBoundFloors), ms(hostBoundSlowMS)},
		"prefill_interference": {times(interferenceFewest), times(pauseGaps), ms(pauseShortestMS), ms(interferenceHarshMS)},
		"standstills":          {ms(standstillsShortestMS), times(standstillsGaps), times(standstillsFewest), s(keep)},
		"past_knee":            {times(kneeStreams), times(level.Clearly), of(kneeAnswers, "responses")},
		"slow_start":           {ms(slowTTFTMS), share(slowStartShare), of(enough, "requests")},
		"ttft_tail":            tail,
		"tpot_tail":            tail,
		"e2e_tail":             {times(outlierTimes), ms(outlierByMS), times(outlierMean), s(outlierPast), of(outlierFewest, "requests")},
		"prefix_cache":         {share(prefixShare), share(prefixShareOfNew), of(prefixTemplate, "tokens")},
		"short_output":         {share(shortOutputShare)},
		"long_output":          {times(longOutputShare)},
		"token_counts":         {fmt.Sprintf("%g tokens", tokensPerChunkTo)},
		"prompt_length":        {share(promptLengthShare), of(promptLengthTokens, "tokens")},
		"slowed":               {times(slowedTPOT), times(slowedTPOTOpen), times(slowedTTFT), times(slowedTTFTOpen), ms(slowedTTFTByMS)},
		"bandwidth_bound":      {share(boundDRAM)},
		"slow_decode":          {ms(slowTPOTMS), ms(quickTPOTMS), times(slowTPOTFloors), ms(slowTTFTMS), of(enough, "requests")},
		"answer_growth":        {times(growthRise), of(growthFewest, "responses"), of(growthGaps+1, "tokens")},
		"tokens_per_chunk":     {fmt.Sprintf("%g tokens", tokensPerChunkFrom)},
	}
}

// Each rule is on the page with its thresholds, and with no other numbers of that kind.
func TestThePageQuotesTheThresholds(t *testing.T) {
	number := regexp.MustCompile(`\b[0-9.]+ (?:times|ms|s|%)(?:\b|[^a-z]|$)`)
	want := quoted()
	for _, r := range page(t) {
		list := want[r.rules[0]]
		for _, q := range list {
			if !strings.Contains(r.text, q) {
				t.Errorf("%s: the page lacks %q", r.rules, q)
			}
		}
		for _, got := range number.FindAllString(r.text, -1) {
			got = strings.TrimRight(got, " ,;:.)(")
			if !slices.Contains(list, got) {
				t.Errorf("%s: the page has %q, which is not a threshold of the rule", r.rules, got)
			}
		}
	}
}
