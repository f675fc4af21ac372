package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// silent makes n of four decoding streams get no token after that moment; the
// others go on.
func silent(n int, after time.Duration) func(f *frame.Frame) {
	return func(f *frame.Frame) {
		f.Client.InFlight, f.Client.Prefill, f.Client.OldestWaiting = 4, 0, 0
		f.Engine.Reading.Running = opt.Of(4)
		f.Streams = nil
		for slot := range 4 {
			c := measure.StreamCell{Slot: slot, State: measure.StreamDecode, MaxGapMS: 10, Tokens: 25}
			if slot < n && f.At > after {
				c.MaxGapMS, c.Tokens = float64(f.At-after)/1e6, 0
			}
			f.Streams = append(f.Streams, c)
		}
		if n == 4 && f.At > after {
			f.Client.SliceOutTokens, f.Requests = 0, nil
		}
	}
}

func TestTotalStall(t *testing.T) {
	j := scene(silent(4, 21*time.Second))
	only(t, j, "stalled", Bad, "no token from 4 of 4 streams for 9 s")
	want := []string{"engine metrics, 0.0 s old: 4 running, 0 waiting", "before that, gap p50 10.0 ms, p99 14.0 ms, n 9999"}
	if got := j.Strongest().Evidence; !slices.Equal(got, want) {
		t.Errorf("evidence %q, want %q", got, want)
	}
	if got := rules(j); len(got) != 1 {
		t.Errorf("verdicts %v", got)
	}
	none(t, "a second and a half", scene(silent(4, 28500*time.Millisecond)), "stalled")
	none(t, "nobody", scene(silent(0, 0)), "stalled")
}

func TestStallWhenTheLiveWindowRanEmpty(t *testing.T) {
	stop := silent(4, 10*time.Second)
	only(t, scene(func(f *frame.Frame) {
		if stop(f); f.At > 20*time.Second {
			f.Client.Gap, f.Client.TPOT, f.Client.TTFT = measure.Summary{}, measure.Summary{}, measure.Summary{}
		}
	}), "stalled", Bad, "no token from 4 of 4 streams for 20 s")
}

func TestPartialStall(t *testing.T) {
	only(t, scene(silent(1, 25*time.Second)), "stalled", Warn, "no token from 1 of 4 streams for 5 s")
	only(t, scene(silent(3, 25*time.Second)), "stalled", Bad, "no token from 3 of 4 streams for 5 s")
}

func TestStallOfASilentEngine(t *testing.T) {
	stop := silent(4, 21*time.Second)
	j := scene(func(f *frame.Frame) {
		if stop(f); f.At > 18*time.Second {
			f.Engine.Reading.At = epoch.Add(18 * time.Second)
		}
	})
	if got := j.Strongest().Evidence[0]; got != "no engine metrics for 12 s" {
		t.Errorf("evidence %q", got)
	}
}

func TestUsualGapsAreNoStall(t *testing.T) {
	with := func(gap measure.Summary, spoil func(*frame.Frame)) *Judge {
		stop := silent(4, 26*time.Second) // 4 s
		return scene(func(f *frame.Frame) {
			stop(f)
			f.Client.Gap = gap
			if spoil != nil {
				spoil(f)
			}
		})
	}
	slow := dist(60, 2000, 2200)
	rare := dist(9999, 10, 14)
	rare.Max = 3500
	none(t, "a model of two seconds a token", with(slow, nil), "stalled")
	none(t, "a prefill took 3.5 s before", with(rare, nil), "stalled")
	none(t, "the load just changed", with(dist(9999, 10, 14), func(f *frame.Frame) {
		if f.At > 26*time.Second {
			f.Load.Level = 2
		}
	}), "stalled")
	none(t, "gaps that closed", with(dist(9999, 10, 14), func(f *frame.Frame) {
		for i := range f.Streams {
			f.Streams[i].Tokens = 1
		}
	}), "stalled")
	// A stall of 20 s before is no measure for this one: 2 s are enough.
	rare.Max = 20_000
	again := silent(4, 27*time.Second)
	only(t, scene(func(f *frame.Frame) { again(f); f.Client.Gap = rare }), "stalled", Bad, "no token from 4 of 4 streams for 3 s")
	none(t, "clumps of many seconds", scene(func(f *frame.Frame) {
		again(f)
		f.Client.Gap, f.Health.CoalescedShare = rare, 0.9
	}), "stalled")
}

func TestStallBehindALongPrompt(t *testing.T) {
	stop := silent(4, 25*time.Second)
	only(t, scene(func(f *frame.Frame) {
		stop(f)
		f.Streams = append(f.Streams, measure.StreamCell{Slot: 4, Long: true, State: measure.StreamWaiting, WaitMS: 5000})
	}), "stalled", Warn, "no token from 4 of 4 streams for 5 s")
}

func TestOurOwnStopIsNoStall(t *testing.T) {
	stop := silent(4, 15*time.Second)
	resumed := func(at time.Duration) *Judge {
		return scene(func(f *frame.Frame) {
			stop(f)
			f.Stopped = f.At == at
		})
	}
	none(t, "a second ago", resumed(29*time.Second), "stalled")
	only(t, resumed(20*time.Second), "stalled", Bad, "no token from 4 of 4 streams for 10 s")
}

// hanging sends requests that get nothing, from that moment on.
func hanging(after time.Duration, known bool) func(f *frame.Frame) {
	return func(f *frame.Frame) {
		if !known {
			f.Client.TTFT, f.Client.TPOT, f.Client.Gap, f.Client.E2E = measure.Summary{}, measure.Summary{}, measure.Summary{}, measure.Summary{}
		}
		if f.At <= after && known {
			return
		}
		f.Requests, f.Client.SliceOutTokens = nil, 0
		f.Client.InFlight, f.Client.Prefill, f.Client.OldestWaiting = 10, 10, f.At-after
		f.Streams = nil
		for slot := range 10 {
			f.Streams = append(f.Streams, measure.StreamCell{Slot: slot, State: measure.StreamWaiting, WaitMS: float64(f.At-after) / 1e6})
		}
		f.Engine.Reading.Running, f.Engine.Reading.Waiting = opt.Of(0), opt.Of(10)
	}
}

func TestHang(t *testing.T) {
	j := scene(hanging(19200*time.Millisecond, false))
	only(t, j, "hang", Warn, "no first token for 10 s: 10 of 10 requests waiting")
	want := []string{"engine metrics, 0.0 s old: 0 running, 10 waiting", "no earlier TTFT to compare with"}
	if got := j.Strongest().Evidence; !slices.Equal(got, want) {
		t.Errorf("evidence %q, want %q", got, want)
	}
	only(t, scene(hanging(14*time.Second, false)), "hang", Bad, "no first token for 16 s: 10 of 10 requests waiting")
	none(t, "four seconds, nothing known", scene(hanging(26*time.Second, false)), "hang")
	only(t, scene(hanging(26*time.Second, true)), "hang", Warn, "no first token for 4 s: 10 of 10 requests waiting")
	none(t, "two seconds, usually 200 ms", scene(hanging(28*time.Second, true)), "hang")
}

func TestHangWithoutCells(t *testing.T) {
	stop := hanging(19200*time.Millisecond, false)
	only(t, scene(func(f *frame.Frame) { stop(f); f.Streams = nil }), "hang", Warn, "no first token for 10 s: 10 of 10 requests waiting")
}

func TestHangWhileConnecting(t *testing.T) {
	stop := hanging(19200*time.Millisecond, false)
	j := scene(func(f *frame.Frame) {
		stop(f)
		f.Client.OldestWaiting, f.Engine = 0, engine.Status{Why: "still loading"}
	})
	want := []string{"none has been sent yet: still connecting", "no earlier TTFT to compare with", "engine: still loading"}
	if got := j.Strongest().Evidence; !slices.Equal(got, want) {
		t.Errorf("evidence %q, want %q", got, want)
	}
}

func TestUsualWaitIsNoHang(t *testing.T) {
	stop := hanging(22*time.Second, true) // 8 s
	for what, first := range map[string]measure.Summary{"slow": dist(50, 6000, 9000), "few": dist(3, 3000, 3100)} {
		none(t, what, scene(func(f *frame.Frame) { stop(f); f.Client.TTFT = first }), "hang")
	}
	none(t, "replies that are not streamed", scene(func(f *frame.Frame) {
		stop(f)
		f.Client.TTFT, f.Client.TPOT, f.Client.Gap, f.Client.E2E = measure.Summary{}, measure.Summary{}, measure.Summary{}, dist(50, 5000, 6000)
	}), "hang")
}

// TestSomeRequestsHang has two requests that wait while others go on.
func TestSomeRequestsHang(t *testing.T) {
	late := func(waitMS float64, spoil func(f *frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			f.Streams[0].WaitMS = waitMS
			f.Streams[1] = measure.StreamCell{Slot: 1, State: measure.StreamWaiting, WaitMS: waitMS}
			f.Client.OldestWaiting = milliseconds(waitMS)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	only(t, late(20_000, nil), "hang", Warn, "no first token from 2 of 16 requests for up to 20 s")
	none(t, "four seconds", late(4000, nil), "hang")
	none(t, "it happened before", late(20_000, func(f *frame.Frame) { f.Client.TTFT.Max = 19_000 }), "hang")
	none(t, "a burst after a change of load", late(20_000, func(f *frame.Frame) {
		if f.At > 26*time.Second {
			f.Load.Level = 2
		}
	}), "hang")
	none(t, "the long prompt that was fired", late(20_000, func(f *frame.Frame) { f.Streams[0].Long, f.Streams[1].Long = true, true }), "hang")
}

func TestSentencesFitALine(t *testing.T) {
	for _, j := range []*Judge{scene(silent(4, 21*time.Second)), scene(hanging(14*time.Second, false))} {
		v := j.Strongest()
		if line := " ■ " + v.Text + ": " + v.Evidence[0]; len([]rune(line)) > 110 {
			t.Errorf("%d cells: %s", len([]rune(line)), line)
		}
		if strings.Contains(v.Text, "not enough data") {
			t.Error(v.Text)
		}
	}
}
