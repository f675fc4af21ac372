package probe

import (
	"errors"
	"net/url"
	"time"

	"sonde/gpu"
	"sonde/probe/api"
	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// RooflineOf is the model and the hardware that a Frame is judged by: what was
// asked for, else what the Frame itself shows. The error is the reason why there
// is none.
func RooflineOf(asked *gpu.Roofline, f *frame.Frame) (gpu.Roofline, error) {
	if asked != nil {
		return *asked, nil
	}
	id := &f.Engine.Identity
	if opaqueWeights[id.Kind] && f.Target.Told.WeightBytes == 0 {
		return gpu.Roofline{}, errors.New(id.Name + " does not say how the weights are quantised: name a model with --roofline MODEL@GPU")
	}
	var seen []gpu.Reading
	if f.GPU.Serve(f.Target.Host, f.Target.Embedded) {
		seen = f.GPU.GPUs
	}
	// The page of an engine's own shows the GPUs of that engine, and no others.
	return gpu.FindRoofline(gpu.Seen{
		Model: id.Model, Told: f.Target.Told, Local: isLocal(f.Target.Host), GPUs: seen, Together: f.GPU.Of(id.GPUURL),
	})
}

// opaqueWeights are engines that usually serve quantised files under the plain
// name of the model.
var opaqueWeights = map[string]bool{"llama.cpp": true, "ollama": true, "lmstudio": true, "mlc-llm": true}

// isLocal reports whether a host:port is this machine.
func isLocal(host string) bool { return api.IsLocal(&url.URL{Host: host}) }

// runningMean is the mean of what the engine said to be running, over the live
// window. It belongs to the ticking goroutine.
type runningMean struct {
	seen []runningAt
}

type runningAt struct {
	at      time.Duration
	running float64
}

// add takes the engine's word at that frame.Frame, and forgets what left the window.
func (m *runningMean) add(f *frame.Frame) {
	if r := f.Engine.Reading.Running; f.Engine.Have && f.Engine.Why == "" && r.OK {
		m.seen = append(m.seen, runningAt{f.At, r.V})
	}
	old := 0
	for old < len(m.seen) && m.seen[old].at <= f.At-f.Client.Window {
		old++
	}
	m.seen = append(m.seen[:0], m.seen[old:]...)
}

func (m *runningMean) mean() opt.Float {
	sum := 0.0
	for _, s := range m.seen {
		sum += s.running
	}
	return opt.Of(sum / float64(len(m.seen))) // none: unknown
}

// roofline judges the live window of a Frame that is otherwise complete.
type roofline struct {
	requested *gpu.Roofline
	running   runningMean
}

func (p *roofline) add(f *frame.Frame, _ *collect.Tick) {
	p.running.add(f)
	r, err := RooflineOf(p.requested, f)
	if err != nil {
		f.Roofline = gpu.Bounds{Why: err.Error()}
		return
	}
	c := &f.Client
	work := gpu.Work{
		Batch: p.running.mean(), Input: c.InputTokens, Output: c.OutputTokens, Cached: c.CachedShare,
		InPerS: opt.Of(c.InTokensPerS), OutPerS: opt.Of(c.OutTokensPerS),
	}
	if work.Cached.Or(0) == 0 && f.Engine.Have { // usage does not always report it
		work.Cached = f.Engine.Reading.PrefixHitRate
	}
	if !work.Batch.OK {
		work.Batch = c.ConcurrencyMean
	}
	if c.TPOT.N > 0 {
		work.TPOTMS = opt.Of(c.TPOT.Mean)
	}
	f.Roofline = r.Judge(work)
}
