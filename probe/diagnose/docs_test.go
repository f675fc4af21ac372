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
		RuleAllFail:             {of(allFailFewest, "failures")},
		RuleClientBottleneck:    {share(clientShare), s(recent)},
		RuleSomeFail:            {share(someFailShare), of(someFailFewest, "requests")},
		RuleRateLimits:          {of(rateLimitsFewest, "requests")},
		RuleOverload:            {s(overloadSpan), s(overloadOthersSpan), share(overloadDone)},
		RuleKVFull:              {share(kvFullFrom), s(recent), s(kvRoomSpan), share(kvRoomFrom)},
		RuleStalled:             {s(stallShortest), times(stallGaps)},
		RuleHang:                {s(hangShortest), times(hangTTFTs), s(hangBad)},
		RuleGPUThrottled:        {share(throttledFrom)},
		RuleGPUIdle:             {share(gpuIdleSM)},
		RuleClumps:              {share(clumpedShare)},
		RulePathDelay:           {times(pathTimes), ms(pathByMS), of(pathFewest, "requests")},
		RuleUnevenReplicas:      {times(unevenTimes), of(unevenFewest, "requests")},
		RuleHostBound:           {share(hostBoundSM), share(hostBoundDRAM), times(hostBoundFloors), ms(hostBoundSlowMS)},
		RulePrefillInterference: {times(interferenceFewest), times(pauseGaps), ms(pauseShortestMS), ms(interferenceHarshMS)},
		RuleStandstills:         {ms(standstillsShortestMS), times(standstillsGaps), times(standstillsFewest), s(keep)},
		RulePastKnee:            {times(kneeStreams), times(level.Clearly), of(kneeAnswers, "answers")},
		RuleSlowStart:           {ms(slowTTFTMS), share(slowStartShare), of(enough, "requests")},
		RuleTTFTTail:            tail,
		RuleTPOTTail:            tail,
		RuleE2ETail:             {times(outlierTimes), ms(outlierByMS), times(outlierMean), s(outlierPast), of(outlierFewest, "requests")},
		RulePrefixCache:         {share(prefixShare), share(prefixShareOfNew), of(prefixTemplate, "tokens")},
		RuleShortOutput:         {share(shortOutputShare)},
		RuleLongOutput:          {times(longOutputShare)},
		RuleTokenCounts:         {fmt.Sprintf("%g tokens", tokensPerChunkTo)},
		RulePromptLength:        {share(promptLengthShare), of(promptLengthTokens, "tokens")},
		RuleSlowed:              {times(slowedTPOT), times(slowedTPOTOpen), times(slowedTTFT), times(slowedTTFTOpen), ms(slowedTTFTByMS)},
		RuleBandwidthBound:      {share(boundDRAM)},
		RuleSlowDecode:          {ms(slowTPOTMS), ms(quickTPOTMS), times(slowTPOTFloors), ms(slowTTFTMS), of(enough, "requests")},
		RuleAnswerGrowth:        {times(growthRise), of(growthFewest, "answers"), of(growthGaps+1, "tokens")},
		RuleTokensPerChunk:      {fmt.Sprintf("%g tokens", tokensPerChunkFrom)},
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
