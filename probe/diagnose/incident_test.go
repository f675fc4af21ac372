package diagnose

import (
	"slices"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// over plays a server that is in trouble from 30 s until 60 s, and returns what was said second by
// second.
func over(until time.Duration, trouble func(*frame.Frame)) (j *Judge, said map[int]Verdict) {
	j, said = New(), map[int]Verdict{}
	for at := tick; at <= until; at += tick {
		f := healthy(at)
		if at > 30*time.Second && at <= 60*time.Second {
			trouble(f)
		}
		j.Add(f)
		if at%time.Second == 0 {
			said[int(at/time.Second)] = j.Strongest()
		}
	}
	return j, said
}

// refuses is a server that answers nothing but 500.
func refuses(f *frame.Frame) {
	f.Requests = []measure.Request{fail(measure.HTTP5xx, "boom"), fail(measure.HTTP5xx, "boom")}
	f.Client.InFlight, f.Client.Prefill, f.Client.SliceOutTokens, f.Streams = 0, 0, 0, nil
}

// After an outage recovery is said until five seconds have been clean and ten requests that began
// after it are measured; then health, with figures of these alone, and a memory of what was.
func TestRecoveryIsAState(t *testing.T) {
	_, said := over(75*time.Second, func(f *frame.Frame) {
		refuses(f)
		f.Client.TTFT, f.Client.TPOT = dist(120, 9000, 9900), dist(120, 90, 99)
	})
	if v := said[40]; v.Rule != RuleAllFail || v.Severity != Bad {
		t.Errorf("at 40 s: %+v", v)
	}
	// The last failure was at 60 s, it is over two seconds later.
	if v := said[63]; v.Rule != RuleRecovering || v.Severity != Info || v.Text != "recovering: clean for 3 s (was: every request failed, 31–60 s)" {
		t.Errorf("at 63 s: %+v", v)
	}
	v := said[75]
	if v.Rule != RuleHealthy || v.Text != "healthy: TTFT p95 200 ms, TPOT p95 10.0 ms, last failure 15 s ago" {
		t.Errorf("at 75 s: %+v", v)
	}
	if !slices.Contains(v.Evidence, "was: every request failed, 31–60 s") {
		t.Errorf("at 75 s it has no memory: %q", v.Evidence)
	}
}

// A rule that is found every other second is one incident: what is shown stands still, and one
// that is found again soon after its end goes on. At another load it is over at once.
func TestTroubleDoesNotFlicker(t *testing.T) {
	found := []Verdict{{Rule: "kv_full", Severity: Warn, Text: "full"}}
	at := func(c *course, from, to time.Duration, level int, every int) (hidden int) {
		for now := from; now <= to; now += time.Second {
			shown, _ := c.step(now, level, found[:min(1, max(0, 1-int(now/time.Second)%every))])
			if c.note("kv_full"); len(shown) == 0 {
				hidden++
			}
		}
		return hidden
	}
	var c course
	if hidden := at(&c, 10*time.Second, 20*time.Second, 1, 2); hidden != 0 || len(c.incidents()) != 1 || !c.incidents()[0].Open {
		t.Errorf("every other second: hidden %d times, %+v", hidden, c.incidents())
	}
	if at(&c, 21*time.Second, 24*time.Second, 1, 4); len(c.incidents()) != 1 || c.incidents()[0].From != 10*time.Second {
		t.Errorf("found again after four seconds: %+v", c.incidents())
	}
	if shown, _ := c.step(25*time.Second, 2, nil); len(shown) != 0 {
		t.Errorf("at another load: %+v", shown)
	}
}

// The log has what was ever the strongest, by its beginning; what goes on is open.
func TestTheLogOfIncidents(t *testing.T) {
	j := New()
	for at := tick; at <= 100*time.Second; at += tick {
		f := healthy(at)
		if at > 20*time.Second && at <= 40*time.Second || at > 80*time.Second {
			refuses(f)
		}
		j.Add(f)
	}
	all := j.Incidents()
	// For as long as a request takes, some of them fail; then all do, which is the same trouble.
	want := []struct {
		rule     Rule
		severity Severity
		span     string
	}{{RuleAllFail, Bad, "21–40 s"}, {RuleAllFail, Bad, "since 81 s"}}
	if len(all) != len(want) {
		t.Fatalf("%+v", all)
	}
	for i, w := range want {
		if a := all[i]; a.Rule != w.rule || a.Severity != w.severity || a.Span() != w.span || a.Open != (i == 1) {
			t.Errorf("%d: %+v, %q", i, a, a.Span())
		}
	}
}

func TestSpans(t *testing.T) {
	for want, i := range map[string]Incident{
		"43–80 s":           {From: 43 * time.Second, To: 80 * time.Second},
		"since 43 s":        {From: 43 * time.Second, To: 80 * time.Second, Open: true},
		"00:12:43–00:13:20": {From: 763 * time.Second, To: 800 * time.Second},
		"since 00:12:43":    {From: 763 * time.Second, To: 800 * time.Second, Open: true},
	} {
		if got := i.Span(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What can be an incident has a title, as its memory.
func TestEveryTroubleHasATitle(t *testing.T) {
	without := []Rule{"prefix_lost", "e2e_tail", "prefix_cache", "token_counts", "gpu_doubts", "past_knee", "bandwidth_bound", "short_output", "long_output", "prompt_length", "shared_server", "answer_growth", "tokens_per_chunk", "slo_unclear"}
	for _, e := range table {
		if (e.title == "") != slices.Contains(without, e.rule) {
			t.Errorf("%s has the title %q", e.rule, e.title)
		}
	}
}
