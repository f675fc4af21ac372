package diagnose

import (
	"fmt"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
)

// clocks remembers the highest SM clock at which each GPU worked in this session:
// what it can do when nothing holds it back.
type clocks struct {
	best  map[string]float64 // Hz, by GPU
	taken time.Time          // of the newest reading
}

// works is the SM activity from which on a GPU has reason to clock up.
const works = 0.3

func (c *clocks) add(f *frame.Frame) {
	if f.GPU.At.Equal(c.taken) && !f.GPU.At.IsZero() {
		return
	}
	c.taken = f.GPU.At
	if c.best == nil {
		c.best = map[string]float64{}
	}
	for i := range f.GPU.GPUs {
		if g := &f.GPU.GPUs[i]; g.SM.Or(g.Busy.Or(0)) >= works && g.SMClock.OK {
			c.best[g.ID] = max(c.best[g.ID], g.SMClock.V)
		}
	}
}

// gpuThrottled finds a GPU whose clock has been taken down although it works.
type gpuThrottled struct {
	id, name    string
	clock, best float64 // Hz
	now         gpu.Reading
	of          int // GPUs that tell their clock
}

func (r *gpuThrottled) check(h *history) outcome {
	const low, fewest = 0.8, 2 // of the best seen; readings
	f := h.now()
	frames, ok := h.last(recent)
	if !ok || !gpusFresh(f) || !f.GPU.Serve(f.Target.Host, f.Target.Embedded) {
		return unclear
	}
	result := unclear
	for i := range f.GPU.GPUs {
		g := &f.GPU.GPUs[i]
		clock, readings := clockOf(frames, g.ID)
		if readings < fewest || h.clocks.best[g.ID] == 0 || g.Lost {
			continue
		}
		if r.of++; result == unclear {
			result = absent
		}
		if clock <= low*h.clocks.best[g.ID] && (r.clock == 0 || clock < r.clock) {
			r.id, r.name, r.clock, r.best, r.now, result = g.ID, g.Name, clock, h.clocks.best[g.ID], *g, holds
		}
	}
	return result
}

// clockOf is the highest SM clock of a GPU over some Frames, and by how many
// readings; none if it did not work all the time.
func clockOf(frames []*frame.Frame, id string) (highest float64, readings int) {
	var last time.Time
	for _, f := range frames {
		for i := range f.GPU.GPUs {
			g := &f.GPU.GPUs[i]
			if g.ID != id || f.GPU.At.Equal(last) {
				continue
			}
			if !g.SMClock.OK || g.SM.Or(g.Busy.Or(0)) < works {
				return 0, 0
			}
			highest, last = max(highest, g.SMClock.V), f.GPU.At
			readings++
		}
	}
	return highest, readings
}

// reason is what holds the clock down, as far as power and heat tell.
func (r *gpuThrottled) reason() (says, advice string, level Severity) {
	const atLimit, hot = 0.95, 83 // of the power limit; °C, where data-centre GPUs begin to slow down
	g := &r.now
	switch {
	case g.Power.OK && g.PowerLimit.OK && g.PowerLimit.V > 0 && g.Power.V >= atLimit*g.PowerLimit.V:
		return fmt.Sprintf(": it draws %.0f of %.0f W", g.Power.V, g.PowerLimit.V), "raise the power limit, or expect this speed: many boards run at their limit all the time", Info
	case g.Temperature.OK && g.Temperature.V >= hot:
		return fmt.Sprintf(": it is %.0f °C hot", g.Temperature.V), "look at the cooling: fans, airflow, the room", Warn
	}
	return "", "look at the clock limits, power and temperature: nvidia-smi -q -d PERFORMANCE names the reason", Warn
}

func (r *gpuThrottled) verdict() Verdict {
	why, advice, level := r.reason()
	v := Verdict{
		Severity: level,
		Text:     fmt.Sprintf("the GPU is throttled to %.0f of %.0f MHz%s", r.clock/1e6, r.best/1e6, why),
		Evidence: []string{fmt.Sprintf("SM clock of the last %.0f s against the highest seen under load in this session", recent.Seconds())},
		Advice:   advice,
	}
	if r.of > 1 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("GPU %d of %d", r.now.Index, r.of))
	}
	if r.now.Temperature.OK {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%.0f °C", r.now.Temperature.V))
	}
	return v
}
