package scrape

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// explained are keys of expected.json that are words about a file, or what another
// test checks: endpoint and http_status belong to the search for the page.
var explained = []string{"note", "kv_fill_note", "prompt_note", "format", "endpoint", "http_status", "says"}

// derived are figures that expected.json leaves out and that follow from the page.
var derived = map[string]map[string]float64{
	"dynamo-frontend-2026-08.txt": {"prompt_tokens": 33}, // input_sequence_tokens_sum
	// 102311 + 77120 computed, 48211 + 0 found in the cache.
	"sglang-0.5.9-dp2.txt":                   {"prefix_queries": 227642, "prefix_hits": 48211},
	"epp-gateway-api-1.0.txt":                {"waiting": 3},                 // a mean of 1.5 over 2 pods
	"epp-llm-d-0.10.txt":                     {"waiting": 3},                 // 3 + 0
	"sglang-0.5.18-loads-prometheus-dp2.txt": {"kv_capacity_tokens": 848480}, // 2 × 424240
	"llamacpp-b10573.txt":                    {"prefix_queries": 1636687, "prefix_hits": 402117, "prompt_tokens": 1234570},
}

// distributionKeys are the distributions by their key.
var distributionKeys = map[string]engine.Field{
	"ttft": engine.FieldTTFT, "itl": engine.FieldGap, "tpot_per_request": engine.FieldTPOT, "queue": engine.FieldQueue,
	"prefill": engine.FieldPrefill, "decode": engine.FieldDecode, "e2e": engine.FieldE2E,
}

// figureKeys are the figures by their key.
var figureKeys = map[string]func(engine.Reading) opt.Float{
	"running": func(r engine.Reading) opt.Float { return r.Running }, "waiting": func(r engine.Reading) opt.Float { return r.Waiting },
	"waiting_average": func(r engine.Reading) opt.Float { return r.WaitingMean },
	"paused":          func(r engine.Reading) opt.Float { return r.Paused }, "swapped": func(r engine.Reading) opt.Float { return r.Paused },
	"active":             func(r engine.Reading) opt.Float { return opt.Of(r.Running.V + r.Waiting.V) },
	"kv_fill":            func(r engine.Reading) opt.Float { return r.KVFill },
	"kv_fill_average":    func(r engine.Reading) opt.Float { return r.KVFill },
	"kv_fill_max":        func(r engine.Reading) opt.Float { return r.KVFillMax },
	"kv_capacity_tokens": func(r engine.Reading) opt.Float { return r.KVCapacityTokens },
	"kv_capacity_blocks": func(r engine.Reading) opt.Float { return r.KVCapacityBlocks },
	"kv_used_tokens":     func(r engine.Reading) opt.Float { return r.KVUsedTokens },
	"preemptions":        func(r engine.Reading) opt.Float { return r.Preemptions },
	"prefix_queries":     func(r engine.Reading) opt.Float { return r.PrefixQueries }, "prefix_hits": func(r engine.Reading) opt.Float { return r.PrefixHits },
	"prompt_tokens": func(r engine.Reading) opt.Float { return r.PromptTokens }, "prompt_tokens_printed": func(r engine.Reading) opt.Float { return r.PromptTokens },
	"generation_tokens": func(r engine.Reading) opt.Float { return r.GenerationTokens }, "cached_tokens": func(r engine.Reading) opt.Float { return r.CachedTokens },
	"live_decode_tokens": func(r engine.Reading) opt.Float { return r.LiveDecodeTokens }, "live_prefill_compute_tokens": func(r engine.Reading) opt.Float { return r.LivePrefillTokens },
	"live_prefill_cache_tokens": func(r engine.Reading) opt.Float { return r.LiveCachedTokens },
	"requests_ok":               func(r engine.Reading) opt.Float { return r.RequestsOK }, "requests_failed": func(r engine.Reading) opt.Float { return r.RequestsFailed },
	"requests_aborted": func(r engine.Reading) opt.Float { return r.RequestsAborted }, "requests_total": func(r engine.Reading) opt.Float { return r.RequestsReceived },
	"gen_tok_s": func(r engine.Reading) opt.Float { return r.GenerationTokensPerS }, "max_model_len": func(r engine.Reading) opt.Float { return r.MaxModelLen },
	"max_running": func(r engine.Reading) opt.Float { return r.MaxRunning }, "ranks": func(r engine.Reading) opt.Float { return opt.Of(float64(r.Ranks)) },
	"endpoints": func(r engine.Reading) opt.Float { return r.Servers }, "servers": func(r engine.Reading) opt.Float { return r.Servers },
}

// unlessStated are figures that are unknown where expected.json does not state them.
var unlessStated = []string{
	"running", "waiting", "kv_capacity_tokens", "preemptions", "prefix_queries", "prefix_hits", "prompt_tokens", "generation_tokens",
}

// Every page is read into what expected.json says of it, and no file is left out.
func TestEveryFixture(t *testing.T) {
	var all map[string]map[string]any
	if err := json.Unmarshal([]byte(fixture(t, "expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	for file := range all {
		if _, err := os.Stat("testdata/" + file); err != nil {
			t.Errorf("%s: expected, and not there", file)
		}
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	detected := detectionFiles()
	for _, f := range files {
		want, isPage := all[f.Name()]
		switch {
		case f.IsDir() || f.Name() == "expected.json": // of fuzzing, and what is expected
		case strings.HasPrefix(f.Name(), "probe-"):
			if !detected[f.Name()] {
				t.Errorf("%s: no detection test answers with it", f.Name())
			}
		case !isPage:
			t.Errorf("%s: nothing is expected of it", f.Name())
		case jsonFixtures[f.Name()] == nil:
			t.Run(f.Name(), func(t *testing.T) { checkFixture(t, f.Name(), want) })
		}
	}
}

func checkFixture(t *testing.T, file string, want map[string]any) {
	t.Helper()
	got := take(t, fixture(t, file), "")
	for key, v := range want {
		checkKey(t, got, key, v)
	}
	for _, key := range unlessStated {
		if v, stated := derived[file][key]; stated {
			checkKey(t, got, key, v)
		} else if _, stated := want[key]; !stated {
			checkKey(t, got, key, nil)
		}
	}
	for key, f := range distributionKeys {
		if _, stated := want[key]; !stated && len(got.Distribution(f).Bounds) > 1 {
			t.Errorf("%s = %v, want unknown", key, got.Distribution(f))
		}
	}
	checkOrigins(t, got.Reading)
}

func checkKey(t *testing.T, got snapshot, key string, want any) {
	t.Helper()
	if f, ok := distributionKeys[key]; ok {
		checkDistribution(t, key, *got.Distribution(f), want)
		return
	}
	if of, ok := figureKeys[key]; ok {
		v := of(got.Reading)
		number, known := want.(float64)
		if v.OK != known || !near(v.V, number) {
			t.Errorf("%s = %v, want %v", key, v, want)
		}
		return
	}
	if ok, checked := wordKeys(got, key, want); !checked && !slices.Contains(explained, key) {
		t.Errorf("%s: no test reads this key", key)
	} else if checked && !ok {
		t.Errorf("%s is not %v: %+v", key, want, got.Reading)
	}
}

// wordKeys checks what is no plain figure.
func wordKeys(got snapshot, key string, want any) (ok, checked bool) {
	switch key {
	case "engine":
		return got.Engine == want, true
	case "model":
		name, _ := want.(string) // null: the page names none
		return strings.EqualFold(got.Model, name), true
	case "via":
		return strings.EqualFold(got.Via, want.(string)), true
	case "is_router":
		return got.Router == want, true
	case "counters_on_finish":
		return got.CountersOnFinish == want, true
	case "prefix_unit":
		return string(got.PrefixUnit) == want, true
	case "prefix_hit_rate":
		return hitRateIs(got, want), true
	case "prefix_hit_rate_by_rank": // the last batch only: the counters go before it
		return got.PrefixQueries.OK && !got.PrefixHitRate.OK, true
	case "kv_fill_by_rank":
		return sameFills(got.KVByRank, want.(map[string]any)), true
	case "prompt_tokens_true": // six digits of seven: up to half of ten away
		return math.Abs(got.PromptTokens.V-want.(float64)) <= 5, true
	case "prompt_tokens_excludes_cached":
		return strings.Contains(got.Origins[engine.FieldPromptTokens].Remark, "without cached"), true
	}
	return false, false
}

// hitRateIs compares with the counters since the start, else with the gauge, which
// engines round to four digits.
func hitRateIs(got snapshot, want any) bool {
	rate := got.PrefixHitRate
	if got.PrefixQueries.OK {
		rate = opt.Of(got.PrefixHits.V / got.PrefixQueries.V)
	}
	number, known := want.(float64)
	if !known {
		return !got.PrefixHitRate.OK
	}
	return rate.OK && math.Abs(rate.V-number) <= 5e-5
}

func sameFills(got []engine.RankFill, want map[string]any) bool {
	for _, r := range got {
		if want[r.Rank] != r.Fill {
			return false
		}
	}
	return len(got) == len(want)
}

func checkDistribution(t *testing.T, key string, got engine.Histogram, want any) {
	t.Helper()
	stated, _ := want.(map[string]any)
	if stated == nil {
		if len(got.Bounds) != 0 {
			t.Errorf("%s = %v, want unknown", key, got)
		}
		return
	}
	count, sum := stated["count"].(float64), stated["sum"].(float64)
	last := len(got.Bounds) - 1
	if last < 1 || !math.IsInf(got.Bounds[last], 1) || got.Counts[last] != count || got.Count != count {
		t.Errorf("%s = %v, want %v observations and a last bound of +Inf", key, got, count)
	}
	if math.Abs(got.Sum-sum) > 1e-6 {
		t.Errorf("%s sum = %v s, want %v", key, got.Sum, sum)
	}
}

// checkOrigins sees that every known field tells where it comes from, and no other.
func checkOrigins(t *testing.T, r engine.Reading) {
	t.Helper()
	for f, o := range r.Origins {
		known := r.Figure(f) != nil && r.Figure(f).OK || r.Distribution(f) != nil && len(r.Distribution(f).Bounds) > 0
		if !known || o.Source == "" || !o.At.Equal(r.At) {
			t.Errorf("%s: origin %+v, known %v", f, o, known)
		}
	}
	for _, f := range engine.Distributions {
		if _, told := r.Origins[f]; !told && len(r.Distribution(f).Bounds) > 0 {
			t.Errorf("%s comes from nowhere", f)
		}
	}
	for _, f := range []engine.Field{engine.FieldRunning, engine.FieldWaiting, engine.FieldKVFill, engine.FieldKVCapacity, engine.FieldPromptTokens, engine.FieldPrefixHits} {
		if _, told := r.Origins[f]; !told && r.Figure(f).OK {
			t.Errorf("%s comes from nowhere", f)
		}
	}
}

// detectionFiles are the recorded answers that detection is tested with.
func detectionFiles() map[string]bool {
	used := map[string]bool{loading.file: true}
	for _, d := range detections {
		for _, r := range d.pages {
			used[r.file] = true
		}
	}
	for _, d := range friends {
		for _, r := range d.pages {
			used[r.file] = true
		}
	}
	return used
}
