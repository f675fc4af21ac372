package diagnose

import (
	"slices"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// reads changes the engine's readings.
func reads(change func(r *engine.Reading, at time.Duration)) *Judge {
	return scene(func(f *frame.Frame) { change(&f.Engine.Reading, f.At) })
}

func TestEngineRestarted(t *testing.T) {
	at18 := func(r *engine.Reading, at time.Duration) { r.Restarted = at.Truncate(time.Second) == 18*time.Second }
	only(t, reads(at18), "engine_restarted", Warn, "the engine restarted about 12 s ago")
	none(t, "it did not", scene(nil), "engine_restarted")
}

func TestPreemptions(t *testing.T) {
	after := func(n float64) func(*engine.Reading, time.Duration) {
		return func(r *engine.Reading, at time.Duration) {
			if at > 27*time.Second {
				r.Preemptions = opt.Of(7 + n)
			}
		}
	}
	only(t, reads(after(4)), "preemptions", Warn, "the KV cache is too small for this load: 4 preemptions in 30 s")
	none(t, "old ones", scene(nil), "preemptions")
	none(t, "a counter that fell", reads(after(-5)), "preemptions")
	none(t, "unknown", reads(func(r *engine.Reading, _ time.Duration) { r.Preemptions = opt.Float{} }), "preemptions")
}

func TestKVFull(t *testing.T) {
	filled := func(mean, most opt.Float) *Judge {
		return reads(func(r *engine.Reading, _ time.Duration) { r.KVFill, r.KVFillMax = mean, most })
	}
	only(t, filled(opt.Of(0.7), opt.Of(0.98)), "kv_full", Warn, "the KV cache is 98 % full: new requests will wait")
	only(t, filled(opt.Of(1), opt.Float{}), "kv_full", Warn, "the KV cache is 100 % full: new requests will wait")
	none(t, "half", filled(opt.Of(0.5), opt.Of(0.6)), "kv_full")
	none(t, "unknown", filled(opt.Float{}, opt.Float{}), "kv_full")
	none(t, "stale", reads(func(r *engine.Reading, _ time.Duration) { r.KVFillMax, r.At = opt.Of(1), epoch }), "kv_full")
	none(t, "for a moment", reads(func(r *engine.Reading, at time.Duration) {
		if at > 29*time.Second {
			r.KVFillMax = opt.Of(1)
		}
	}), "kv_full")
}

// Eight requests run and fill 90 %: one of them holds 11 %, so that a ninth would need
// 101 %. At 80 % it would need 90 %.
func TestNoRoomInTheKVCache(t *testing.T) {
	full := func(fill float64, spoil func(r *engine.Reading, at time.Duration)) *Judge {
		return reads(func(r *engine.Reading, at time.Duration) {
			r.KVFill, r.KVFillMax, r.Running, r.Waiting = opt.Of(fill), opt.Float{}, opt.Of(8), opt.Of(3)
			if spoil != nil {
				spoil(r, at)
			}
		})
	}
	only(t, full(0.9, nil), "kv_full", Warn, "3 requests waiting for room in the KV cache: 8 running fill up to 90 % of it, and one more needs 11 %")
	only(t, full(0.97, nil), "kv_full", Warn, "3 requests waiting for room in the KV cache: 8 running fill up to 97 % of it, and one more needs 12 %")
	none(t, "room for one more", full(0.8, nil), "kv_full")
	none(t, "nobody waits", full(0.9, func(r *engine.Reading, _ time.Duration) { r.Waiting = opt.Of(0) }), "kv_full")
	none(t, "nobody waited for a moment", full(0.9, func(r *engine.Reading, at time.Duration) {
		if at > 20*time.Second && at < 22*time.Second {
			r.Waiting = opt.Of(0)
		}
	}), "kv_full")
	none(t, "the fill is unknown", full(0.9, func(r *engine.Reading, _ time.Duration) { r.KVFill = opt.Float{} }), "kv_full")
}

func TestGPUIdle(t *testing.T) {
	idle := func(spoil func(*frame.Frame)) *Judge {
		return scene(func(f *frame.Frame) {
			f.GPU.GPUs[0].SM, f.GPU.GPUs[0].DRAM = opt.Of(0.12), opt.Of(0.05)
			f.Engine.Reading.Running, f.Engine.Reading.Waiting = opt.Of(11), opt.Of(5)
			if spoil != nil {
				spoil(f)
			}
		})
	}
	only(t, idle(nil), "gpu_idle", Warn, "the GPU is idle while requests wait: SM activity 12 %")
	only(t, idle(func(f *frame.Frame) {
		f.Engine.Have, f.Client.OldestWaiting = false, 2*time.Second
		f.GPU.Source, f.Target.Host = "nvml", "127.0.0.1:8000"
	}), "gpu_idle", Warn, "the GPU is idle while requests wait: SM activity 12 %")
	none(t, "nobody waits", idle(func(f *frame.Frame) { f.Engine.Reading.Waiting = opt.Of(0) }), "gpu_idle")
	none(t, "the GPU of another machine", idle(func(f *frame.Frame) { f.GPU.Source = "nvml" }), "gpu_idle")
	none(t, "the embedded engine", idle(func(f *frame.Frame) {
		f.GPU.Source, f.Target.Embedded, f.Target.Host = "nvml", true, "127.0.0.1:1"
	}), "gpu_idle")
	none(t, "SM unknown", idle(func(f *frame.Frame) { f.GPU.GPUs[0].SM = opt.Float{} }), "gpu_idle")
	none(t, "another GPU works", idle(func(f *frame.Frame) {
		f.GPU.GPUs = append(f.GPU.GPUs, gpu.Reading{ID: "GPU-b", SM: opt.Of(0.8)})
	}), "gpu_idle")
	none(t, "values that stand still behind a Prometheus server", idle(func(f *frame.Frame) {
		f.GPU.At, f.GPU.Period = epoch.Add(time.Second), 15*time.Second
	}), "gpu_idle")
	none(t, "figures that change every 30 s", idle(func(f *frame.Frame) { f.GPU.Period = 30 * time.Second }), "gpu_idle")
}

func TestIdleMIGInstances(t *testing.T) {
	j := scene(func(f *frame.Frame) {
		f.Engine.Reading.Running, f.Engine.Reading.Waiting = opt.Of(11), opt.Of(5)
		f.GPU.GPUs = []gpu.Reading{{ID: "GPU-a"}, {ID: "GPU-a/1", Parent: "GPU-a", SM: opt.Of(0.1)}, {ID: "GPU-b", Lost: true}}
	})
	only(t, j, "gpu_idle", Warn, "the GPU is idle while requests wait: SM activity 10 %")
}

func TestPrefixCache(t *testing.T) {
	hitting := func(share float64, prefix string) *Judge {
		return scene(func(f *frame.Frame) {
			r := &f.Engine.Reading
			r.PrefixHits = r.PrefixQueries.Scale(share)
			f.Load.Requested.Prefix = prefix
		})
	}
	only(t, hitting(0.047, "unique"), "prefix_cache", Info, "the prefix cache serves 4.7 % of prompt tokens although every prompt should be new")
	only(t, hitting(0.5, "unique"), "prefix_cache", Warn, "the prefix cache serves 50 % of prompt tokens although every prompt should be new")
	healthyWith(t, hitting(0.5, "shared"), "prefix_cache", "the prefix cache serves 50 % of prompt tokens")
	none(t, "below one percent", hitting(0.008, "unique"), "prefix_cache")
	none(t, "little, as asked", hitting(0.1, "shared"), "prefix_cache")
}

// A start mark and a chat template, 17 of 257 tokens, begin every prompt.
func TestAChatTemplateIsNoHit(t *testing.T) {
	none(t, "a template", scene(func(f *frame.Frame) {
		f.Requests[0].InTokens = 257
		f.Engine.Reading.PrefixHits = f.Engine.Reading.PrefixQueries.Scale(17. / 257)
	}), "prefix_cache")
}

// Whoever only watches knows nothing of the prompts.
func TestPrefixCacheOfOthers(t *testing.T) {
	j := scene(func(f *frame.Frame) {
		f.Load.Requested.Concurrency, f.Requests, f.Streams = 0, nil, nil
		f.Client = measure.Client{Window: 30 * time.Second}
		f.Engine.Reading.PrefixHits = f.Engine.Reading.PrefixQueries.Scale(0.5)
	})
	for _, v := range j.Verdicts() {
		if v.Rule == "prefix_cache" {
			if want := "the prefix cache serves 50 % of prompt tokens"; v.Text != want || v.Severity != Info || v.Advice != "" {
				t.Errorf("%v %q, advice %q", v.Severity, v.Text, v.Advice)
			}
			return
		}
	}
	t.Errorf("not among %v", rules(j))
}

func TestPrefixCacheByUsage(t *testing.T) {
	cached := func(tokens int) *Judge {
		return scene(func(f *frame.Frame) {
			f.Engine.Have = false
			f.Requests[0].CachedTokens = tokens
		})
	}
	only(t, cached(1031), "prefix_cache", Warn, "the prefix cache serves 100 % of prompt tokens although every prompt should be new")
	none(t, "not told", cached(0), "prefix_cache")
}

// A router publishes a mean over its servers, which is not the fill of the fullest one.
func TestTheMeanOfARouterIsNotTheFullest(t *testing.T) {
	fill := func(router bool) *Judge {
		return reads(func(r *engine.Reading, _ time.Duration) {
			r.Router, r.KVFill, r.KVFillMax = router, opt.Of(0.97), opt.Float{}
		})
	}
	only(t, fill(false), "kv_full", Warn, "the KV cache is 97 % full: new requests will wait")
	j := fill(true)
	none(t, "a router", j, "kv_full")
	if !slices.Contains(j.Checked().Inconclusive, "kv_full") {
		t.Errorf("checked %+v", j.Checked())
	}
}
