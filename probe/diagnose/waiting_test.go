package diagnose

import (
	"testing"
	"time"

	"sonde/probe"
	"sonde/probe/opt"
)

func TestOverload(t *testing.T) {
	// The queue grows by one each second.
	growing := func(f *probe.Frame) {
		f.Engine.Reading.Waiting = opt.Of(f.At.Truncate(time.Second).Seconds())
		f.Client.OldestWaiting = 8300 * time.Millisecond
	}
	only(t, scene(growing), "overload", Bad, "overload: the queue keeps growing, more comes in than is served")
	none(t, "the load was just raised", scene(func(f *probe.Frame) {
		if growing(f); f.At > 20*time.Second {
			f.Load.Level = 2
		}
	}), "overload")
	none(t, "a queue that stands", scene(func(f *probe.Frame) { f.Engine.Reading.Waiting = opt.Of(30) }), "overload")
	none(t, "engine unknown in a closed loop", scene(func(f *probe.Frame) {
		f.Engine.Have = false
		f.Client.Prefill = int(f.At / time.Second)
	}), "overload")
}

func TestOverloadOfAnOpenLoop(t *testing.T) {
	open := func(perSecond float64) *Judge {
		return scene(func(f *probe.Frame) {
			f.Load.Asked.Rate = 10
			f.Engine.Have = false
			f.Client.Prefill = int(f.At.Seconds() * perSecond)
			f.Client.InFlight = f.Client.Prefill + 15
		})
	}
	j := open(6)
	only(t, j, "overload", Bad, "overload: the queue keeps growing, more comes in than is served")
	// In the first third it is 105.5 on average, in the last 60 more.
	want := "requests without a first token: from 106 to 166 within 15 s at the same load"
	if got := j.Strongest().Evidence[0]; got != want {
		t.Errorf("evidence %q, want %q", got, want)
	}
	none(t, "steady", open(0), "overload")
}

func TestSlowStart(t *testing.T) {
	slow := func(waiting opt.Float, spoil func(*probe.Frame)) *Judge {
		return scene(func(f *probe.Frame) {
			f.Client.TTFT, f.Client.E2E = dist(120, 2400, 3000), dist(120, 5000, 6000)
			f.Engine.Reading.Waiting = waiting
			f.Engine.Reading.TTFT.Bounds = nil
			if spoil != nil {
				spoil(f)
			}
		})
	}
	only(t, slow(opt.Of(9), nil), "slow_start", Warn, "the first token takes 2.4 s, decoding is fine: waiting in the engine's queue")
	only(t, slow(opt.Of(0), nil), "slow_start", Warn, "the first token takes 2.4 s, decoding is fine: prefill")
	only(t, slow(opt.Float{}, nil), "slow_start", Warn, "the first token takes 2.4 s, decoding is fine: waiting or prefill")
	none(t, "decoding is slow, too", slow(opt.Of(9), func(f *probe.Frame) { f.Client.TPOT = dist(120, 90, 120) }), "slow_start")
	none(t, "few samples", slow(opt.Of(9), func(f *probe.Frame) { f.Client.TTFT.N = 9 }), "slow_start")
	none(t, "a small part of E2E", slow(opt.Of(9), func(f *probe.Frame) { f.Client.E2E = dist(120, 20000, 30000) }), "slow_start")
	none(t, "fast", scene(nil), "slow_start")
}

func TestPathDelay(t *testing.T) {
	delayed := func(ttft float64, spoil func(*probe.Frame)) *Judge {
		return scene(func(f *probe.Frame) {
			f.Requests[0].First = f.Requests[0].Start + time.Duration(ttft*1e6)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	only(t, delayed(812, nil), "path_delay", Warn, "TTFT is 812 ms here and 150 ms by the engine's own account: the rest is lost on the way")
	none(t, "less than twice", delayed(290, nil), "path_delay")
	none(t, "other clients, too", delayed(812, func(f *probe.Frame) {
		f.Engine.Reading.TTFT = histogram(12*f.At.Seconds(), 0.15)
	}), "path_delay")
	none(t, "unknown", delayed(812, func(f *probe.Frame) { f.Engine.Have = false }), "path_delay")
}
