package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
)

// talked is a run of one conversation of two turns: prompts of 100 and 300 tokens, of the second 200
// from the cache.
func talked() Summary {
	first, second := stream(0, 50, 10, 100), stream(2000, 80, 10, 100)
	first.Turn, first.Conversation, first.InTokens = 1, 1, 100
	second.Turn, second.Conversation, second.InTokens, second.HistoryTokens = 2, 1, 300, 200
	second.CachedTokens, second.CachedCounted = 200, true
	load := frame.Load{Concurrency: 1, InputTokens: 100, OutputTokens: 100, Turns: 2, Think: 500 * time.Millisecond}
	return summarise(bench.Plan{Load: load, Requests: 2, Seed: 7, Prefix: "unique"}, frames(4*time.Second, load, reqs(first, second), func(*frame.Frame) {}))
}

// turnsContract is what conversations add to the documented form.
const turnsContract = `{"turn": 2, "later": false, "n": 1,
  "ttft_ms": {"n": 0, "mean": null, "min": null, "p50": null, "p90": null, "p95": null, "p99": null, "p999": null, "max": null, "weak": []},
  "input_tokens": 300, "cached_tokens": 200, "cached_share": 0.666667, "history_hit_share": 1}`

func TestTurnsInTheSummary(t *testing.T) {
	got := decode(t, talked())
	var want map[string]any
	if err := json.Unmarshal([]byte(turnsContract), &want); err != nil {
		t.Fatal(err)
	}
	turns := got["turns"].([]any)
	if len(turns) != 2 {
		t.Fatalf("%d turns, want 2", len(turns))
	}
	second := turns[1].(map[string]any)
	sameKeys(t, "turns[1]", want, second)
	for _, key := range []string{"turn", "later", "n", "input_tokens", "cached_tokens", "cached_share", "history_hit_share"} {
		if second[key] != want[key] {
			t.Errorf("turns[1].%s is %v, want %v", key, second[key], want[key])
		}
	}
	if hit := turns[0].(map[string]any)["history_hit_share"]; hit != nil {
		t.Errorf("the first turn has no history: %v", hit)
	}
	if load := got["load"].(map[string]any); load["turns"] != 2.0 || load["think_s"] != 0.5 {
		t.Errorf("load %v", load)
	}
	if plain := decode(t, nastyRun()); plain["turns"] != nil || plain["load"].(map[string]any)["turns"] != nil {
		t.Error("a run without conversations has turns")
	}
}

func TestTurnsForPeople(t *testing.T) {
	s := talked()
	text := s.Text(80, false)
	for _, want := range []string{
		"closed loop, concurrency 1 · 2 turns, think time 500 ms · prefix unique",
		"turn               n TTFT p50    p95     p99  prompt  cached   share    hits",
		"2                  1    80.0    80.0?   80.0?    300     200  66.7 %   100 %",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if m := s.Markdown(); !strings.Contains(m, "Turns") || !strings.Contains(m, "66.7 %") {
		t.Errorf("no turns in\n%s", m)
	}
	cells, err := s.CSV()
	if err != nil || !strings.Contains(cells, "turns.1.cached_share") {
		t.Errorf("%v, %s", err, cells)
	}
}
