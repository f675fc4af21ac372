package report

import (
	"strings"
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
)

// What a replay did otherwise than its trace stands in the notes, and in figures.
func TestAReplayTellsWhatDiffersFromTheTrace(t *testing.T) {
	load := frame.Load{Concurrency: 8, Rate: 2, Trace: "conv.jsonl", InputTokens: 100, OutputTokens: 10}
	state := frame.TraceState{
		At: 10 * time.Second, Length: 10 * time.Second, Arrivals: 4000, Sent: 3900, Waited: 12, LongestWait: 1200 * time.Millisecond,
		Missed: 4, LeftOut: 56, Cut: 3, CutTo: 16000, Skipped: 30, Empty: 2, Ended: true,
	}
	s := summarise(bench.Plan{Load: load}, frames(time.Second, load, nil, func(f *frame.Frame) { f.Load.Replay = &state }))
	for _, want := range []string{
		"12 of 4,000 arrivals waited for a free stream, the longest 1.2 s",
		"56 of 4,000 arrivals were left out",
		"4 of 4,000 arrivals were missed",
		"10 of 4,000 arrivals were never reached",
		"3 of 4,000 prompts were longer than the model's context and were cut, to 16,000 tokens at most",
		"30 of 4,000 requests were skipped",
		"2 lengths of 0 tokens in the trace were taken as 1",
	} {
		if !noteWith(s, want) {
			t.Errorf("no note says %q: %q", want, s.Notes)
		}
	}
	if r := s.Load.Trace; r.Name != "conv.jsonl" || r.Arrivals.V != 4000 || r.LongestWaitMS.V != 1200 || r.LengthS.V != 10 || s.Load.Arrivals != "" {
		t.Errorf("%+v, arrivals %q", r, s.Load.Arrivals)
	}
	text, err := Render(s, "table", 80, false)
	if err != nil || !strings.Contains(text, "\ntrace conv.jsonl: 4000 requests in 10 s, at most 8 in flight\n") {
		t.Errorf("%v:\n%s", err, text)
	}

	state = frame.TraceState{Length: time.Second, Arrivals: 5, Sent: 5, Ended: true}
	s = summarise(bench.Plan{Load: load}, frames(time.Second, load, nil, func(f *frame.Frame) { f.Load.Replay = &state }))
	if noteWith(s, "arrivals") || noteWith(s, "trace") {
		t.Errorf("a replay as recorded: %q", s.Notes)
	}
}
