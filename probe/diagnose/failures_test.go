package diagnose

import (
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// dies is a server that fails every request after that moment: first the open
// streams break, then nobody listens.
func dies(after time.Duration) func(f *frame.Frame) {
	return func(f *frame.Frame) {
		if f.At <= after {
			return
		}
		class, message := measure.ConnectionLost, "cut"
		if f.At > after+4*time.Second {
			class, message = measure.Connect, "connect: connection refused"
		}
		f.Requests = []measure.Request{fail(class, message), fail(class, message)}
		f.Client.InFlight, f.Client.Prefill, f.Client.SliceOutTokens, f.Client.OldestWaiting, f.Streams = 0, 0, 0, 0, nil
	}
}

func TestServerDies(t *testing.T) {
	// From 22.25 s on, in 32 Frames, two fail each: 32 of the first kind until
	// 26 s, 32 of the second.
	j := scene(dies(22 * time.Second))
	only(t, j, "all_fail", Bad, "every request in the last 7 s has failed: connect: connection refused")
	if got := j.Strongest().Evidence[0]; got != "64 failures in a row, 32 of them connect" {
		t.Errorf("evidence %q", got)
	}
	only(t, scene(dies(26*time.Second)), "all_fail", Bad, "every request in the last 3 s has failed: connection_lost: cut")
	none(t, "for half a second", scene(dies(29500*time.Millisecond)), "all_fail")
	none(t, "it works again", scene(func(f *frame.Frame) {
		if f.At < 29*time.Second {
			dies(20 * time.Second)(f)
		}
	}), "all_fail")
}

func TestFailuresByChanceAreNotAll(t *testing.T) {
	// Half of the requests fail all the time; the newest six happen to be failures.
	j := scene(func(f *frame.Frame) {
		if f.Seq%2 == 0 || f.Seq > 114 {
			f.Requests = []measure.Request{fail(measure.HTTP5xx, "boom")}
			f.Client.InFlight, f.Client.Prefill = 1, 1
		}
	})
	none(t, "six of a server that fails half", j, "all_fail")
}

func TestEveryReplyIsCut(t *testing.T) {
	// Tokens arrive, but no reply gets to its end.
	only(t, scene(func(f *frame.Frame) {
		f.Requests = []measure.Request{fail(measure.Truncated, "no end")}
		f.Requests[0].Chunks = 20
	}), "all_fail", Bad, "every request fails: truncated: no end")
}

func TestOldFailuresDoNotStand(t *testing.T) {
	failing := func(until time.Duration) *Judge {
		return scene(func(f *frame.Frame) {
			if f.At <= until {
				f.Requests = []measure.Request{fail(measure.HTTP5xx, "boom")}
			}
		})
	}
	only(t, failing(15*time.Second), "healthy", Healthy, "healthy: TTFT p95 200 ms, TPOT p95 10.0 ms, last failure 15 s ago")
	none(t, "five seconds ago", failing(25*time.Second), "healthy")
}

func TestAFewFailures(t *testing.T) {
	at := func(moment time.Duration) *Judge {
		return scene(func(f *frame.Frame) {
			if f.At == moment {
				f.Requests = append(f.Requests, fail(measure.Timeout, "no byte"))
			}
		})
	}
	j := at(25 * time.Second)
	only(t, j, "some_fail", Info, "1 of 121 requests failed: timeout: no byte")
	none(t, "failed lately", j, "healthy")
	none(t, "long ago", at(5*time.Second), "some_fail")
}

func TestBottleneckAfterOurOwnStop(t *testing.T) {
	late := func(stopped time.Duration) *Judge {
		return scene(func(f *frame.Frame) {
			f.Health.Bottleneck, f.Health.Why = f.At > 15*time.Second, "our own timers are 900 ms late"
			f.Stopped = f.At == stopped
		})
	}
	none(t, "six seconds ago", late(24*time.Second), "client_bottleneck")
	only(t, late(19*time.Second), "client_bottleneck", Bad, "this client is the bottleneck, not the server: our own timers are 900 ms late")
}
