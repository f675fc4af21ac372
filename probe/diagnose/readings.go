package diagnose

import (
	"fmt"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// readings returns the distinct engine readings of some Frames, each fresh at its time;
// none if the engine no longer reports.
func (h *history) readings(frames []*frame.Frame) []*engine.Reading {
	if _, ok := h.now().FreshEngine(); !ok {
		return nil
	}
	var out []*engine.Reading
	for _, f := range frames {
		r, ok := f.FreshEngine()
		if ok && (len(out) == 0 || !out[len(out)-1].At.Equal(r.At)) {
			out = append(out, r)
		}
	}
	return out
}

// at is when a reading was taken, on the session's clock.
func (h *history) at(r *engine.Reading) time.Duration {
	age, _ := h.now().Age(r.At)
	return h.now().At - age
}

// increase is how much a counter grew over successive readings.
func increase(list []*engine.Reading, counter engine.Field) opt.Float {
	var g engine.Growth
	for i := 1; i < len(list); i++ {
		g.Add(list[i-1], list[i], func(r *engine.Reading) opt.Float { return *r.Counter(counter) })
	}
	return g.Total()
}

// gained is what a distribution gained over successive readings.
func gained(list []*engine.Reading, distribution engine.Field) engine.Histogram {
	var g engine.HistogramGrowth
	for i := 1; i < len(list); i++ {
		g.Add(list[i-1], list[i], func(r *engine.Reading) *engine.Histogram { return r.Distribution(distribution) })
	}
	return g.Total()
}

// busy is how busy the engine and its busiest GPU have been in the last seconds.
type busy struct{ waiting, running, kv, sm, dram, tensor opt.Float }

func (h *history) findBusy() busy {
	return busy{
		waiting: h.engineMean(recent, waiting), running: h.engineMean(recent, running), kv: h.engineMean(recent, fullest),
		sm: h.gpuMean(recent, sm), dram: h.gpuMean(recent, dram), tensor: h.gpuMean(recent, tensor),
	}
}

// engineMean is the mean of a figure over the engine's readings taken within the newest d,
// without older ones that are still shown.
func (h *history) engineMean(d time.Duration, figure func(*frame.Frame) opt.Float) opt.Float {
	return h.mean(d, func(f *frame.Frame) (time.Time, bool) { return f.Engine.Reading.At, f.Engine.Have }, figure)
}

// gpuMean is the same for the busiest GPU.
func (h *history) gpuMean(d time.Duration, figure func(*gpu.Reading) opt.Float) opt.Float {
	return h.mean(d, func(f *frame.Frame) (time.Time, bool) { return f.GPU.At, true },
		func(f *frame.Frame) opt.Float { return busiest(f, figure) })
}

// mean is over distinct readings taken within the newest d; unknown if there are
// fewer than two, or one lacks the figure.
func (h *history) mean(d time.Duration, taken func(*frame.Frame) (time.Time, bool), figure func(*frame.Frame) opt.Float) opt.Float {
	const fewest = 2
	frames, ok := h.last(d)
	if !ok {
		return opt.Float{}
	}
	var distinct []*frame.Frame
	var last time.Time
	for _, f := range frames {
		at, have := taken(f)
		if !have {
			return opt.Float{}
		}
		if age, known := h.now().Age(at); known && age > d || len(distinct) > 0 && !at.IsZero() && at.Equal(last) {
			continue
		}
		distinct, last = append(distinct, f), at
	}
	if len(distinct) < fewest {
		return opt.Float{}
	}
	return everyFrame(distinct, figure)
}

// everyFrame is the mean of a value that must be known in all Frames.
func everyFrame(frames []*frame.Frame, value func(*frame.Frame) opt.Float) opt.Float {
	sum := 0.0
	for _, f := range frames {
		v := value(f)
		if !v.OK {
			return v
		}
		sum += v.V
	}
	return opt.Of(sum / float64(len(frames))) // unknown of none: opt.Of takes no NaN
}

// Figures of a fresh reading of the engine.
var (
	waiting = engineFigure(func(r *engine.Reading) opt.Float { return r.Waiting })
	running = engineFigure(func(r *engine.Reading) opt.Float { return r.Running })
	fullest = engineFigure((*engine.Reading).FullestKV)
	held    = engineFigure(func(r *engine.Reading) opt.Float { // running and waiting
		if !r.Running.OK || !r.Waiting.OK {
			return opt.Float{}
		}
		return opt.Of(r.Running.V + r.Waiting.V)
	})
)

func engineFigure(figure func(*engine.Reading) opt.Float) func(*frame.Frame) opt.Float {
	return func(f *frame.Frame) opt.Float {
		if r, ok := f.FreshEngine(); ok {
			return figure(r)
		}
		return opt.Float{}
	}
}

// busiest is the highest figure of any GPU, as perhaps only some of a host's serve the
// target. It is unknown if a GPU lacks it, or if none of them can be the target's.
func busiest(f *frame.Frame, figure func(*gpu.Reading) opt.Float) opt.Float {
	if !f.GPU.Serve(f.Target.Host, f.Target.Embedded) {
		return opt.Float{}
	}
	gpus := f.FreshGPUs()
	split := map[string]bool{} // GPUs whose instances are listed instead
	for i := range gpus {
		split[gpus[i].Parent] = true
	}
	most := opt.Float{}
	for i := range gpus {
		g := &gpus[i]
		if g.Lost || g.ID != "" && split[g.ID] {
			continue
		}
		v := figure(g)
		if !v.OK {
			return v
		}
		most = opt.Of(max(most.V, v.V))
	}
	return most
}

func sm(r *gpu.Reading) opt.Float     { return r.SM }
func dram(r *gpu.Reading) opt.Float   { return r.DRAM }
func tensor(r *gpu.Reading) opt.Float { return r.Tensor }

// engineAnswers is whether the engine's metrics still arrive, and what they report; "" if
// they were never read.
func engineAnswers(f *frame.Frame) string {
	if !f.Engine.Have {
		return ""
	}
	e := &f.Engine.Reading
	state, separator := "", ": "
	for _, s := range []struct {
		word string
		n    opt.Float
	}{{"running", e.Running}, {"waiting", e.Waiting}} {
		if s.n.OK {
			state += separator + units.Whole(s.n.V) + " " + s.word
			separator = ", "
		}
	}
	age, known := f.Age(e.At)
	_, fresh := f.FreshEngine()
	switch {
	case !known && state == "":
		return ""
	case !known:
		return "engine metrics" + state
	case !fresh:
		return fmt.Sprintf("no engine metrics for %s", units.Elapsed(age))
	}
	return fmt.Sprintf("engine metrics, %.1f s old%s", age.Seconds(), state)
}
