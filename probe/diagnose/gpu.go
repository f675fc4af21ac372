package diagnose

import (
	"fmt"
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/units"
)

// clocks remembers the highest SM clock at which each GPU worked in this session:
// what it can do when nothing holds it back.
type clocks struct {
	best  map[string]float64 // Hz, by GPU
	taken time.Time          // of the newest reading
}

// works reports whether a GPU has reason to clock up.
func works(g *gpu.Reading) bool { return g.SM.Or(g.Busy.Or(0)) >= gpuWorks }

func (c *clocks) add(f *frame.Frame) {
	if f.GPU.At.Equal(c.taken) && !f.GPU.At.IsZero() {
		return
	}
	c.taken = f.GPU.At
	if c.best == nil {
		c.best = map[string]float64{}
	}
	for i := range f.GPU.GPUs {
		if g := &f.GPU.GPUs[i]; works(g) && g.SMClock.OK {
			c.best[g.ID] = max(c.best[g.ID], g.SMClock.V)
		}
	}
}

// throttled is a GPU with its clock.
type throttled struct {
	gpu.Reading
	clock, best float64 // Hz
}

// checkGPUThrottled finds a GPU whose clock has been taken down although it works: one that was
// faster before, or whose driver says that it is too hot. The session may have begun with that.
func checkGPUThrottled(h *history) (outcome, Verdict) {
	const fewest = 2 // readings
	f := h.now()
	frames, ok := h.last(recent)
	if !ok || !f.GPU.Serve(f.Target.Host, f.Target.Embedded) {
		return unclear, Verdict{}
	}
	var slowest throttled
	clocked := 0
	for _, g := range f.FreshGPUs() {
		clock, readings, overheated := clockOf(frames, g.ID)
		best := h.clocks.best[g.ID]
		if readings < fewest || best == 0 || g.Lost {
			continue
		}
		clocked++
		if (clock <= throttledFrom*best || overheated) && (slowest.clock == 0 || clock < slowest.clock) {
			slowest = throttled{g, clock, best}
		}
	}
	if clocked == 0 {
		return unclear, Verdict{}
	}
	return when(slowest.clock > 0, func() Verdict { return slowest.verdict(clocked) })
}

// clockOf is the highest SM clock of a GPU over some Frames, by how many readings, and whether
// it was too hot in all of them; none if it did not work all the time.
func clockOf(frames []*frame.Frame, id string) (highest float64, readings int, overheated bool) {
	var last time.Time
	overheated = true
	for _, f := range frames {
		for i := range f.GPU.GPUs {
			g := &f.GPU.GPUs[i]
			if g.ID != id || f.GPU.At.Equal(last) {
				continue
			}
			if !g.SMClock.OK || !works(g) {
				return 0, 0, false
			}
			overheated = overheated && g.Overheated
			highest, last = max(highest, g.SMClock.V), f.GPU.At
			readings++
		}
	}
	return highest, readings, overheated
}

// reason is what holds the clock down, as far as power and heat show.
func (g *throttled) reason() (text, advice string, severity Severity) {
	switch {
	case !g.Overheated && g.Power.OK && g.PowerLimit.OK && g.PowerLimit.V > 0 && g.Power.V >= throttledPower*g.PowerLimit.V:
		return fmt.Sprintf(": it draws %.0f of %.0f W", g.Power.V, g.PowerLimit.V), "raise the power limit, or expect this speed: many boards run at their limit all the time", Info
	case g.Overheated && !g.Temperature.OK:
		return ": it is too hot", "check the cooling: fans, airflow, the room", Warn
	case g.Overheated || g.Temperature.OK && g.Temperature.V >= throttledHot:
		return fmt.Sprintf(": it has reached %.0f °C", g.Temperature.V), "check the cooling: fans, airflow, the room", Warn
	}
	return "", "check the clock limits, power and temperature: nvidia-smi -q -d PERFORMANCE names the reason", Warn
}

// verdict is on one of so many GPUs whose clock is known.
func (g *throttled) verdict(gpus int) Verdict {
	why, advice, severity := g.reason()
	v := Verdict{
		Severity: severity,
		Text:     fmt.Sprintf("the GPU is throttled to %.0f of %.0f MHz%s", g.clock/1e6, g.best/1e6, why),
		Evidence: []string{fmt.Sprintf("SM clock of the last %.0f s against the highest seen under load in this session", recent.Seconds())},
		Advice:   advice,
	}
	if g.clock > throttledFrom*g.best {
		v.Text = fmt.Sprintf("the GPU is throttled to %.0f MHz%s", g.clock/1e6, why)
		v.Evidence = []string{fmt.Sprintf("the driver says for %.0f s that temperature holds the SM clock down", recent.Seconds())}
	}
	if gpus > 1 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("GPU %d of %d", g.Index, gpus))
	}
	if g.Temperature.OK {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%.0f °C", g.Temperature.V))
	}
	return v
}

// checkGPUDoubts finds GPUs whose values contradict each other. What they show is
// unknown then, and no ground to call anything healthy.
func checkGPUDoubts(h *history) (outcome, Verdict) {
	f := h.now()
	gpus := f.GPU.GPUs
	if len(gpus) == 0 || !f.GPU.Serve(f.Target.Host, f.Target.Embedded) {
		return unclear, Verdict{}
	}
	fresh := f.FreshGPUs() != nil
	doubted := slices.DeleteFunc(slices.Clone(gpus), func(g gpu.Reading) bool {
		return g.Doubts == 0 || !fresh && g.Doubts&gpu.DoubtFrozen == 0
	})
	if !fresh && len(doubted) == 0 {
		return unclear, Verdict{}
	}
	return when(len(doubted) > 0, func() Verdict {
		first := doubted[0]
		v := Verdict{
			Severity: Info, Text: "the GPU's counters cannot be right: those in doubt are not shown",
			Evidence: []string{first.Note},
			Advice:   "restart the exporter or driver that counts; another profiler on the same GPU (Nsight, DCGM) stops its counters",
		}
		if len(gpus) > 1 {
			v.Evidence = append(v.Evidence, fmt.Sprintf("%d of %d GPUs", len(doubted), len(gpus)))
		}
		return v
	})
}

// checkGPUIdle finds requests that wait although the GPU has nothing to do.
func checkGPUIdle(h *history) (outcome, Verdict) {
	now := h.now()
	// A figure that changes seldom may be of a time before anyone waited.
	span := max(recent, 2*now.GPU.Period)
	if span > keep {
		return unclear, Verdict{}
	}
	frames, _ := h.last(span)
	active := h.gpuMean(span, sm)
	if !active.OK || h.justChanged() {
		return unclear, Verdict{}
	}
	for _, f := range frames {
		if !someoneWaits(f) {
			return absent, Verdict{}
		}
	}
	return when(active.V < gpuIdleSM, func() Verdict {
		v := Verdict{
			Severity: Warn, Text: fmt.Sprintf("the GPU is idle while requests wait: SM activity %s", units.Share(active.V)),
			Evidence: []string{fmt.Sprintf("SM activity of the busiest GPU %s over the last %.0f s", units.Share(active.V), span.Seconds())},
			Advice:   "check what feeds it: the engine's CPU, the tokenizer, the scheduler, the network",
		}
		if queued := waiting(now); queued.OK {
			v.Evidence = append(v.Evidence, fmt.Sprintf("%s in the engine's queue all the time", units.Count(queued.V, "request")))
		} else {
			v.Evidence = append(v.Evidence, fmt.Sprintf("%s without a token", units.Count(float64(now.Client.Prefill), "request")))
		}
		return v
	})
}

// someoneWaits goes by the engine's queue, and where that is unknown by
// requests that have had no token for a second.
func someoneWaits(f *frame.Frame) bool {
	if w := waiting(f); w.OK {
		return w.V > 0
	}
	return f.Client.Prefill > 0 && f.Client.OldestWaiting >= time.Second
}
