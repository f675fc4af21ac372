package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

func TestOverload(t *testing.T) {
	// The queue grows by two each second. In the first fifth of 12 s it is 37.8 on average, in
	// the last one 55.8.
	growing := func(f *frame.Frame) {
		f.Engine.Reading.Waiting = opt.Of(2 * f.At.Truncate(time.Second).Seconds())
		f.Engine.Reading.Running = opt.Of(64) // mostly others'
		f.Client.OldestWaiting = 8300 * time.Millisecond
	}
	j := scene(growing)
	if v := j.Strongest(); v.Rule != "overload" || v.Severity != Bad || v.Text != "overload: the queue keeps growing, from 38 to 56 in 12 s; 108 of 124 requests are not ours" {
		t.Errorf("%+v", v)
	}
	if got := rules(j); !slices.Equal(got, []Rule{"overload", "shared_server"}) {
		t.Errorf("verdicts %v", got)
	}
	// 64 run and 60 wait, 16 of all are ours: a lower load of ours would change nothing.
	if got := j.Strongest().Advice; got != "limit the other clients, or add replicas: most of the load is theirs" {
		t.Errorf("advice %q", got)
	}
	none(t, "no more than ours wait", scene(func(f *frame.Frame) {
		growing(f)
		f.Client.Prefill = int(f.Engine.Reading.Waiting.V)
	}), "overload")
	none(t, "the load was just raised", scene(func(f *frame.Frame) {
		if growing(f); f.At > 20*time.Second {
			f.Load.Level = 2
		}
	}), "overload")
	none(t, "a queue that stands", scene(func(f *frame.Frame) { f.Engine.Reading.Waiting = opt.Of(30) }), "overload")
	none(t, "engine unknown in a closed loop", scene(func(f *frame.Frame) {
		f.Engine.Have = false
		f.Client.Prefill = int(f.At / time.Second)
	}), "overload")
}

func TestOverloadOfAnOpenLoop(t *testing.T) {
	open := func(perSecond float64) *Judge {
		return scene(func(f *frame.Frame) {
			f.Load.Requested.Rate, f.Load.Requested.Concurrency = 10, 512
			f.Engine.Have = false
			f.Client.Prefill = int(f.At.Seconds() * perSecond)
			f.Client.InFlight = f.Client.Prefill + 15
		})
	}
	j := open(6)
	only(t, j, "overload", Bad, "overload: the queue keeps growing, from 106 to 166 in 15 s")
	// In the first third it is 105.5 on average, in the last 60 more.
	want := "requests without a first token: from 106 to 166 within 15 s at the same load"
	if got := j.Strongest().Evidence[0]; got != want {
		t.Errorf("evidence %q, want %q", got, want)
	}
	if got := j.Strongest().Advice; got != "lower the load, or add replicas" {
		t.Errorf("advice %q", got)
	}
	none(t, "steady", open(0), "overload")
}

func TestARateThatFillsItsCap(t *testing.T) {
	capped := func(rate float64) *Judge {
		return scene(func(f *frame.Frame) { f.Load.Requested.Rate = rate })
	}
	only(t, capped(10), "overload", Bad, "overload: 4.0 of 10.0 requests/s completed with all 16 streams in use")
	if got := capped(10).Strongest().Advice; got != "lower the load, or add replicas" { // the engine's 16 are all ours
		t.Errorf("advice %q", got)
	}
	none(t, "as many as asked", capped(4), "overload")
}

func TestSlowStart(t *testing.T) {
	slow := func(waiting opt.Float, tpot float64, spoil func(*frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			timed(short(&f.Requests[0]), 2400, tpot)
			f.Engine.Reading.Waiting, f.Engine.Reading.Running = waiting, opt.Of(16-waiting.V)
			f.Engine.Reading.TTFT = engine.Histogram{}
			if spoil != nil {
				spoil(f)
			}
		})
	}
	// The engine's own account: means of its queue and of prefill, seconds.
	account := func(queue, prefill float64) func(*frame.Frame) {
		return func(f *frame.Frame) {
			n := 4 * f.At.Seconds()
			f.Engine.Reading.Queue, f.Engine.Reading.Prefill = histogram(n, queue), histogram(n, prefill)
		}
	}
	for _, c := range []struct {
		waiting opt.Float
		spoil   func(*frame.Frame)
		cause   string
	}{
		{opt.Of(9), account(2.1, 0.2), "waiting in the engine's queue"},
		{opt.Of(9), nil, "waiting in the engine's queue"},
		{opt.Of(0), account(0.1, 2.2), "prefill"},
		{opt.Of(0), account(0, 0.2), "most of it is spent outside the engine"},
		{opt.Of(0), func(f *frame.Frame) { // twice as many requests as ours
			n := 8 * f.At.Seconds()
			f.Engine.Reading.Queue, f.Engine.Reading.Prefill = histogram(n, 0), histogram(n, 0.2)
		}, "prefill, or something before the engine, whose queue is empty"},
		{opt.Of(0), nil, "prefill, or something before the engine, whose queue is empty"},
		{opt.Float{}, nil, "queue or prefill"},
	} {
		only(t, slow(c.waiting, 10, c.spoil), "slow_start", Warn, "the first token takes 2.40 s, decode is fine: "+c.cause)
	}
	full := slow(opt.Of(9), 10, func(f *frame.Frame) { f.Engine.Reading.KVFillMax = opt.Of(0.92) }).Verdicts()
	if len(full) != 2 || full[0].Rule != "kv_full" || full[1].Rule != "slow_start" || !strings.HasSuffix(full[1].Text, "waiting for room in the KV cache") {
		t.Errorf("a full KV cache: %+v", full)
	}
	only(t, slow(opt.Of(0), 10, func(f *frame.Frame) { f.Roofline.TTFTFloorMS = opt.Of(1000) }), "slow_start", Info,
		"the first token takes 2.40 s because prompts are long: the hardware needs at least 1.00 s")
	none(t, "decoding is slow, too", slow(opt.Of(9), 101, nil), "slow_start")
	only(t, slow(opt.Of(9), 101, nil), "saturated", Warn, "saturated: the first token takes 2.40 s, the others 101 ms each, and 9 requests wait")
	none(t, "an empty queue", slow(opt.Of(0), 101, nil), "saturated")
	none(t, "few samples", slow(opt.Of(9), 10, func(f *frame.Frame) {
		if f.At <= 27750*time.Millisecond {
			f.Requests = nil
		}
	}), "slow_start")
	none(t, "a small part of E2E", slow(opt.Of(9), 90, nil), "slow_start")
	none(t, "fast", scene(nil), "slow_start")
}

func TestPathDelay(t *testing.T) {
	delayed := func(ttft float64, spoil func(*frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			f.Requests[0].First = f.Requests[0].Start + time.Duration(ttft*1e6)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	only(t, delayed(812, nil), "path_delay", Warn, "TTFT is 812 ms here but the engine reports 150 ms; the difference is network or gateway")
	none(t, "less than twice", delayed(290, nil), "path_delay")
	none(t, "other clients, too", delayed(812, func(f *frame.Frame) {
		f.Engine.Reading.TTFT = histogram(12*f.At.Seconds(), 0.15)
	}), "path_delay")
	none(t, "unknown", delayed(812, func(f *frame.Frame) { f.Engine.Have = false }), "path_delay")
}
