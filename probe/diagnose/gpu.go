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
// what it can reach when nothing holds it back.
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

// checkGPUThrottled finds a GPU that works at a reduced clock: one that was faster before, or,
// as the session may have begun throttled, one whose driver reports that it is too hot.
func checkGPUThrottled(h *history) finding {
	const fewest = 2 // readings
	f := h.now()
	frames, ok := h.last(recent)
	if !ok || !f.GPU.Serve(f.Target.Host, f.Target.Embedded) {
		return unclear
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
	return decide(clocked > 0, slowest.clock > 0, slowest.finding().
		withIf(clocked > 1, "GPU %d, one of %d", slowest.Index, clocked).
		withIf(slowest.Temperature.OK, "%.0f °C", slowest.Temperature.V))
}

// finding names what holds the clock down, as far as power and heat show.
func (g *throttled) finding() finding {
	f := warn("the GPU is throttled to %.0f of %.0f MHz", g.clock/1e6, g.best/1e6).
		with("SM clock of the last %s, compared with the highest under load in this session", units.Span(recent))
	if g.clock > throttledFrom*g.best {
		f = warn("the GPU is throttled to %.0f MHz", g.clock/1e6).
			with("the driver has reported thermal throttling for %s", units.Span(recent))
	}
	switch {
	case !g.Overheated && g.Power.OK && g.PowerLimit.OK && g.PowerLimit.V > 0 && g.Power.V >= throttledPower*g.PowerLimit.V:
		f.Severity = Info
		f.Text += fmt.Sprintf(": it draws %.0f of %.0f W", g.Power.V, g.PowerLimit.V)
		return f.advise("raise the power limit, or accept this speed: many boards always run at their limit")
	case g.Overheated && !g.Temperature.OK:
		f.Text += ": it is too hot"
	case g.Overheated || g.Temperature.OK && g.Temperature.V >= throttledHot:
		f.Text += fmt.Sprintf(": it has reached %.0f °C", g.Temperature.V)
	default:
		return f.advise("check the clock limits, power and temperature: nvidia-smi -q -d PERFORMANCE shows the reason")
	}
	return f.advise("check the cooling: fans, airflow, room temperature")
}

// clockOf is the highest SM clock of a GPU over some Frames, from how many readings, and
// whether it was too hot in all of them. There are none if it did not work all the time.
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

// checkGPUDoubts finds GPUs whose values contradict each other. Those values are unknown,
// and nothing can be called healthy because of them.
func checkGPUDoubts(h *history) finding {
	f := h.now()
	gpus, fresh := f.GPU.GPUs, f.FreshGPUs() != nil
	doubted := slices.DeleteFunc(slices.Clone(gpus), func(g gpu.Reading) bool {
		return g.Doubts == 0 || !fresh && g.Doubts&gpu.DoubtFrozen == 0
	})
	switch {
	case len(gpus) == 0 || !f.GPU.Serve(f.Target.Host, f.Target.Embedded):
		return unclear
	case len(doubted) == 0:
		return decide(fresh, false, finding{})
	}
	return info("the GPU's counters cannot be right; doubtful values are not shown").
		with("%s", doubted[0].Note).
		withIf(len(gpus) > 1, "%d of %d GPUs", len(doubted), len(gpus)).
		advise("restart the GPU exporter or the driver; another profiler on the same GPU (Nsight, DCGM) stops these counters")
}

// checkGPUIdle finds requests that wait although the GPU has nothing to do.
func checkGPUIdle(h *history) finding {
	now := h.now()
	// A figure that seldom changes may date from before anyone waited.
	span := max(recent, 2*now.GPU.Period)
	frames, _ := h.last(span)
	active, queued := h.gpuMean(span, sm), waiting(now)
	waits := !slices.ContainsFunc(frames, func(f *frame.Frame) bool { return !someoneWaits(f) })
	return decide(span <= keep && active.OK && !h.justChanged(), waits && active.V < gpuIdleSM,
		warn("the GPU is idle while requests wait: SM activity %s", units.Share(active.V)).
			with("SM activity of the busiest GPU %s over the last %.0f s", units.Share(active.V), span.Seconds()).
			withIf(queued.OK, "%s in the engine's queue throughout", units.Count(queued.V, "request")).
			withIf(!queued.OK, "%s without a token", units.Count(now.Client.Prefill, "request")).
			advise("check what feeds it: the engine's CPU, the tokenizer, the scheduler, the network"))
}

// someoneWaits goes by the engine's queue, and where that is unknown by
// requests that have had no token for a second.
func someoneWaits(f *frame.Frame) bool {
	if w := waiting(f); w.OK {
		return w.V > 0
	}
	return f.Client.Prefill > 0 && f.Client.OldestWaiting >= time.Second
}
