package diagnose

import (
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

const (
	// freshFor is the age up to which a reading speaks of now, where it is not
	// known how often new ones come.
	freshFor = 10 * time.Second
	// freshPeriods is the same for a source whose period is known.
	freshPeriods = 3
)

// age is how old a reading of that wall time was at the Frame; not known without
// the wall time of the session's start.
func age(f *frame.Frame, at time.Time) (time.Duration, bool) {
	if f.Target.Started.IsZero() || at.IsZero() {
		return 0, false
	}
	return max(0, f.Target.Started.Add(f.At).Sub(at)), true
}

// within tells that a reading is at most that old; of unknown age it passes.
func within(f *frame.Frame, at time.Time, d time.Duration) bool {
	old, known := age(f, at)
	return !known || old <= d
}

// reading is the engine's word at that Frame, if it is fresh.
func reading(f *frame.Frame) (*engine.Reading, bool) {
	if !f.Engine.Have || !within(f, f.Engine.Reading.At, freshFor) {
		return nil, false
	}
	return &f.Engine.Reading, true
}

// gpusFresh tells whether the GPU readings of that Frame speak of its time.
func gpusFresh(f *frame.Frame) bool {
	if f.GPU.Period > 0 {
		return within(f, f.GPU.At, freshPeriods*f.GPU.Period)
	}
	return within(f, f.GPU.At, freshFor)
}

// readings gives the distinct engine readings of some Frames, each fresh then;
// none if the engine has fallen silent since.
func (h *history) readings(frames []*frame.Frame) []*engine.Reading {
	if _, ok := reading(h.now()); !ok {
		return nil
	}
	var out []*engine.Reading
	for _, f := range frames {
		r, ok := reading(f)
		if ok && (len(out) == 0 || !out[len(out)-1].At.Equal(r.At)) {
			out = append(out, r)
		}
	}
	return out
}

// engineMean is the mean of a figure over the engine's readings that were taken
// within the newest d: not of those that are only still shown.
func (h *history) engineMean(d time.Duration, figure func(*frame.Frame) opt.Float) opt.Float {
	return h.mean(d, func(f *frame.Frame) (time.Time, bool) { return f.Engine.Reading.At, f.Engine.Have }, figure)
}

// gpuMean is the same for the busiest GPU.
func (h *history) gpuMean(d time.Duration, figure func(*gpu.Reading) opt.Float) opt.Float {
	return h.mean(d, func(f *frame.Frame) (time.Time, bool) { return f.GPU.At, gpusFresh(f) },
		func(f *frame.Frame) opt.Float { return busiest(f, figure) })
}

// mean is over distinct readings taken within the newest d; unknown if there are
// fewer than two, or one does not tell.
func (h *history) mean(d time.Duration, taken func(*frame.Frame) (time.Time, bool), figure func(*frame.Frame) opt.Float) opt.Float {
	const fewest = 2
	frames, ok := h.last(d)
	if !ok {
		return opt.Float{}
	}
	var of []*frame.Frame
	var last time.Time
	for _, f := range frames {
		at, have := taken(f)
		switch {
		case !have:
			return opt.Float{}
		case !within(h.now(), at, d) || len(of) > 0 && !at.IsZero() && at.Equal(last):
			continue
		}
		of, last = append(of, f), at
	}
	if len(of) < fewest {
		return opt.Float{}
	}
	return everyFrame(of, figure)
}

// increase is how much a counter grew over the readings; unknown if it ever
// fell or the engine restarted.
func increase(list []*engine.Reading, counter func(*engine.Reading) opt.Float) opt.Float {
	if len(list) < 2 {
		return opt.Float{}
	}
	for i := 1; i < len(list); i++ {
		before, after := counter(list[i-1]), counter(list[i])
		if !list[i].Follows(list[i-1]) || !before.OK || !after.OK || after.V < before.V {
			return opt.Float{}
		}
	}
	return opt.Of(counter(list[len(list)-1]).V - counter(list[0]).V)
}

// everyFrame gives the mean of a value that must be known in all Frames.
func everyFrame(frames []*frame.Frame, value func(*frame.Frame) opt.Float) opt.Float {
	sum := 0.0
	for _, f := range frames {
		v := value(f)
		if !v.OK {
			return opt.Float{}
		}
		sum += v.V
	}
	if len(frames) == 0 {
		return opt.Float{}
	}
	return opt.Of(sum / float64(len(frames)))
}

func waiting(f *frame.Frame) opt.Float {
	if r, ok := reading(f); ok {
		return r.Waiting
	}
	return opt.Float{}
}

func running(f *frame.Frame) opt.Float {
	if r, ok := reading(f); ok {
		return r.Running
	}
	return opt.Float{}
}

// busiest is the highest figure of any GPU: of those on a host, only some may
// serve the target. It is unknown if one does not tell, or if none of them can
// be the target's.
func busiest(f *frame.Frame, figure func(*gpu.Reading) opt.Float) opt.Float {
	if !gpusFresh(f) || !f.GPU.Serve(f.Target.Host, f.Target.Embedded) {
		return opt.Float{}
	}
	split := map[string]bool{} // GPUs whose instances are listed instead
	for i := range f.GPU.GPUs {
		split[f.GPU.GPUs[i].Parent] = true
	}
	most := opt.Float{}
	for i := range f.GPU.GPUs {
		g := &f.GPU.GPUs[i]
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
