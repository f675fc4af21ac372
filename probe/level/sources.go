package level

import (
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// Engine is what the engine itself reports. Counters and histograms are how much they grew.
type Engine struct {
	Running, Waiting, WaitingMax opt.Float // requests in the engine; means and the largest
	KV, KVMax                    opt.Float // fill of the KV cache: mean, and of the fullest rank the largest
	Preemptions                  opt.Float
	PrefixHitRate                opt.Float // unknown without a query
	OutTokensPerS                opt.Float
	Restarts                     int // the intervals around them are in no figure

	TTFT, Gap, Queue, E2E engine.Histogram
}

// readings follow what the engine reports, whatever load is on: a span counts increases from
// the last reading before it.
type readings struct{ last *engine.Reading }

// next takes the next Frame. now is its reading, nil if none is fresh; before is the one
// before, nil if this one is not new, or the first.
func (r *readings) next(f *frame.Frame) (now, before *engine.Reading) {
	now, fresh := f.FreshEngine()
	if !fresh || r.last != nil && now.At.Equal(r.last.At) {
		return now, nil
	}
	before, r.last = r.last, now
	return now, before
}

// engineTally gathers what the engine reports within a span.
type engineTally struct {
	running, waiting, kv, kvMax     opt.TimeMean
	preemptions, queries, hits, out engine.Growth
	ttft, gap, queue, e2e           engine.HistogramGrowth
	restarts                        int
}

// add takes the reading of a Frame of which so much is in the span, and the reading before.
// seen reports whether now was taken in the span.
func (e *engineTally) add(now, before *engine.Reading, held time.Duration, seen bool) {
	if now == nil || held == 0 {
		return
	}
	if seen {
		e.running.Add(now.Running, held)
		e.waiting.Add(now.Waiting, held)
		e.kv.Add(now.KVFill, held)
		e.kvMax.Add(now.FullestKV(), held)
	}
	if before == nil {
		return
	}
	if now.Restarted {
		e.restarts++
	}
	e.preemptions.Add(before, now, func(r *engine.Reading) opt.Float { return r.Preemptions })
	e.queries.Add(before, now, func(r *engine.Reading) opt.Float { return r.PrefixQueries })
	e.hits.Add(before, now, func(r *engine.Reading) opt.Float { return r.PrefixHits })
	e.out.AddOutput(before, now)
	e.ttft.Add(before, now, func(r *engine.Reading) *engine.Histogram { return &r.TTFT })
	e.gap.Add(before, now, func(r *engine.Reading) *engine.Histogram { return &r.Gap })
	e.queue.Add(before, now, func(r *engine.Reading) *engine.Histogram { return &r.Queue })
	e.e2e.Add(before, now, func(r *engine.Reading) *engine.Histogram { return &r.E2E })
}

func (e *engineTally) figures() Engine {
	out := Engine{
		Running: e.running.Mean(), Waiting: e.waiting.Mean(), WaitingMax: e.waiting.Max(),
		KV: e.kv.Mean(), KVMax: e.kvMax.Max(),
		Preemptions: e.preemptions.Total(), OutTokensPerS: e.out.PerSecond(), Restarts: e.restarts,
		TTFT: e.ttft.Total(), Gap: e.gap.Total(), Queue: e.queue.Total(), E2E: e.e2e.Total(),
	}
	if queries, hits := e.queries.Total(), e.hits.Total(); hits.OK && queries.Or(0) > 0 { // both in the same unit
		out.PrefixHitRate = opt.Of(hits.V / queries.V)
	}
	return out
}

// GPU are means over time of one device.
type GPU struct {
	ID, Name, Source, Parent string
	SM, DRAM, Busy, Power    opt.Float
	MemUsedMax               opt.Float // bytes
}

// gpuTally gathers the readings of every GPU within a span, in the order in which they first
// appeared.
type gpuTally struct{ devices []*device }

type device struct {
	about                                 GPU
	sm, dram, tensor, busy, memory, watts opt.TimeMean
}

// add takes a Frame of which so much is in the span; seen reports whether its readings were
// taken in it. GPUs are listed either way.
func (g *gpuTally) add(f *frame.Frame, held time.Duration, seen bool) {
	if held == 0 {
		return
	}
	readings := f.FreshGPUs()
	for i := range readings {
		r := &readings[i]
		d := g.device(r)
		if !seen {
			continue
		}
		d.sm.Add(r.SM, held)
		d.dram.Add(r.DRAM, held)
		d.tensor.Add(r.Tensor, held)
		d.busy.Add(r.Busy, held)
		d.memory.Add(r.MemUsed, held)
		d.watts.Add(r.Power, held)
	}
}

func (g *gpuTally) device(r *gpu.Reading) *device {
	i := slices.IndexFunc(g.devices, func(d *device) bool { return d.about.ID == r.ID })
	if i < 0 {
		i = len(g.devices)
		g.devices = append(g.devices, &device{about: GPU{ID: r.ID, Name: r.Name, Source: r.Source, Parent: r.Parent}})
	}
	return g.devices[i]
}

// figures puts the devices, and the means over them, into a Level.
func (g *gpuTally) figures(l *Level) {
	var sm, dram, tensor opt.TimeMean
	for _, d := range g.devices {
		one := d.about
		one.SM, one.DRAM, one.Busy, one.Power = d.sm.Mean(), d.dram.Mean(), d.busy.Mean(), d.watts.Mean()
		one.MemUsedMax = d.memory.Max()
		l.GPUs = append(l.GPUs, one)
		sm.Merge(&d.sm)
		dram.Merge(&d.dram)
		tensor.Merge(&d.tensor)
	}
	l.SM, l.DRAM, l.Tensor = sm.Mean(), dram.Mean(), tensor.Mean()
}

// Client is how well the client itself did.
type Client struct {
	Stamps    string         // "kernel" or "read"
	LateMSP99 opt.Float      // the worst of the slices
	CPU       opt.Float      // mean, cores
	Behind    float64        // share of the time in which the client was the bottleneck
	BehindWhy string         // how it was, as last reported; "" if it was not
	Workers   []frame.Worker // that sent the load, as they stood at the end; nil: this process did
}

// doubtFrom is the share of the time from which on a client that is the bottleneck makes
// the whole level doubtful.
const doubtFrom = 0.05

// Doubtful reports whether the figures may be about the client.
func (c *Client) Doubtful() bool { return c.Behind > doubtFrom }

type clientTally struct {
	stamps, why   string
	workers       []frame.Worker
	cpu, late     opt.TimeMean
	total, behind time.Duration
}

func (c *clientTally) add(h *frame.Health, workers []frame.Worker, held time.Duration) {
	if held == 0 {
		return
	}
	c.stamps, c.workers = h.Stamps, workers
	c.cpu.Add(h.CPU, held)
	c.late.Add(opt.Of(h.LateMsP99), held)
	c.total += held
	if h.Bottleneck {
		c.behind += held
		c.why = h.Why
	}
}

func (c *clientTally) figures() Client {
	out := Client{Stamps: c.stamps, LateMSP99: c.late.Max(), CPU: c.cpu.Mean(), BehindWhy: c.why, Workers: c.workers}
	if c.total > 0 {
		out.Behind = float64(c.behind) / float64(c.total)
	}
	return out
}
