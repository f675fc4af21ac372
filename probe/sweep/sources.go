package sweep

import (
	"time"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// staleAfter is the age from which a reading says nothing about the present.
const staleAfter = 10 * time.Second

// fresh tells whether what was read at that wall time is of this stretch and not
// too old for the Frame. It cannot be told without the wall time of the session's start.
func (s *stretch) fresh(f *frame.Frame, at time.Time) bool {
	if f.Target.Started.IsZero() || at.IsZero() {
		return true
	}
	since := at.Sub(f.Target.Started)
	return since >= s.from && f.At-since <= staleAfter
}

// addEngine takes what the engine says.
func (s *stretch) addEngine(f *frame.Frame, held time.Duration) {
	r := &f.Engine.Reading
	if !f.Engine.Have || !s.fresh(f, r.At) {
		return
	}
	s.running.Add(r.Running, held)
	s.waiting.Add(r.Waiting, held)
	s.kv.Add(r.KVFill, held)
	s.kvFullest.Add(r.FullestKV(), held)
	s.preemptions.add(r)
}

// addGPU takes what the hardware says, as the mean over GPUs.
func (s *stretch) addGPU(f *frame.Frame, held time.Duration) {
	if !s.fresh(f, f.GPU.At) {
		return
	}
	share := held / time.Duration(max(1, len(f.GPU.GPUs)))
	for i := range f.GPU.GPUs {
		g := &f.GPU.GPUs[i]
		s.sm.Add(g.SM, share)
		s.dram.Add(g.DRAM, share)
		s.tensor.Add(g.Tensor, share)
	}
}

// counter adds up how much a counter of the engine's grew within the stretch.
type counter struct {
	last  opt.Float
	at    time.Time
	of    engine.Reading // that both are from
	sum   float64
	known bool
}

// start notes where the counter stands.
func (c *counter) start(f *frame.Frame) {
	if f.Engine.Have {
		c.last, c.at, c.of = f.Engine.Reading.Preemptions, f.Engine.Reading.At, f.Engine.Reading
	}
}

// add takes the next reading. A counter that fell was reset; that interval is left out.
func (c *counter) add(r *engine.Reading) {
	if !r.At.After(c.at) {
		return
	}
	if v := r.Preemptions; c.last.OK && v.OK && v.V >= c.last.V && r.Follows(&c.of) {
		c.sum += v.V - c.last.V
		c.known = true
	}
	c.last, c.at, c.of = r.Preemptions, r.At, *r
}

func (c *counter) merge(o *counter) {
	c.sum += o.sum
	c.known = c.known || o.known
}

func (c *counter) total() opt.Float {
	if !c.known {
		return opt.Float{}
	}
	return opt.Of(c.sum)
}
