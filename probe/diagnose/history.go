package diagnose

import (
	"net"
	"strings"
	"time"

	"sonde/probe"
	"sonde/probe/engine"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

const (
	// keep is how far back a verdict looks.
	keep = 30 * time.Second
	// recent is how long a state must last before it is called one.
	recent = 5 * time.Second
	// freshFor is the age up to which an engine or GPU reading speaks of now.
	freshFor = 10 * time.Second
)

// history is the Frames of the last 30 s, and the settled levels before.
type history struct {
	frames []*probe.Frame
	levels []levelPoint
}

// levelPoint is the throughput of one settled level.
type levelPoint struct {
	level         int
	load          probe.Load
	outTokensPerS float64
	ttftP95       float64 // ms
}

func (h *history) add(f *probe.Frame) {
	h.frames = append(h.frames, f)
	old := 0
	for h.frames[old].At <= f.At-keep && old < len(h.frames)-1 {
		old++
	}
	// Moving down instead of cutting off lets the old Frames be freed.
	n := copy(h.frames, h.frames[old:])
	clear(h.frames[n:])
	h.frames = h.frames[:n]
	h.addLevel(f)
}

func (h *history) addLevel(f *probe.Frame) {
	if !f.Load.Settled || f.Client.Level.OutTokensPerS <= 0 {
		return
	}
	p := levelPoint{f.Load.Level, f.Load.Asked, f.Client.Level.OutTokensPerS, f.Client.Level.TTFT.P95}
	if n := len(h.levels); n > 0 && h.levels[n-1].level == p.level {
		h.levels[n-1] = p
		return
	}
	const kept = 64
	h.levels = append(h.levels, p)
	h.levels = h.levels[max(0, len(h.levels)-kept):]
}

func (h *history) now() *probe.Frame { return h.frames[len(h.frames)-1] }

// last gives the Frames of the newest d; ok is false if the history does not
// reach back that far.
func (h *history) last(d time.Duration) (frames []*probe.Frame, ok bool) {
	since := h.now().At - d
	i := len(h.frames)
	for i > 0 && h.frames[i-1].At > since {
		i--
	}
	return h.frames[i:], i > 0 || h.frames[0].At-h.frames[0].Slice <= since
}

// steady is last, but only if the load did not change in that time.
func (h *history) steady(d time.Duration) (frames []*probe.Frame, ok bool) {
	frames, ok = h.last(d)
	for _, f := range frames {
		ok = ok && f.Load.Level == h.now().Load.Level
	}
	return frames, ok
}

// requests calls f for every request of the history that had a result of the
// server's making.
func (h *history) requests(f func(*measure.Request)) {
	for _, frame := range h.frames {
		for i := range frame.Requests {
			r := &frame.Requests[i]
			if !r.Long && r.Class != measure.Cancelled && r.Class != measure.Loading {
				f(r)
			}
		}
	}
}

// successes calls f for the requests that count in latency figures.
func (h *history) successes(f func(*measure.Request)) {
	h.requests(func(r *measure.Request) {
		if r.Class == measure.OK && !r.Excluded {
			f(r)
		}
	})
}

// newest gives up to n successful requests, newest Frame first.
func (h *history) newest(n int) []*measure.Request {
	var out []*measure.Request
	for i := len(h.frames) - 1; i >= 0; i-- {
		for k := range h.frames[i].Requests {
			r := &h.frames[i].Requests[k]
			if len(out) == n {
				return out
			}
			if r.Class == measure.OK && !r.Excluded && !r.Long {
				out = append(out, r)
			}
		}
	}
	return out
}

// seconds that the history covers.
func (h *history) seconds() float64 {
	return (h.now().At - h.frames[0].At + h.frames[0].Slice).Seconds()
}

// reading is the engine's word at that Frame, if it is fresh.
func reading(f *probe.Frame) (*engine.Reading, bool) {
	if !f.Engine.Have || !fresh(f, f.Engine.Reading.At) {
		return nil, false
	}
	return &f.Engine.Reading, true
}

// fresh compares a wall time with the Frame's. Without the wall time of the
// session's start every reading passes.
func fresh(f *probe.Frame, at time.Time) bool {
	if f.Target.Started.IsZero() || at.IsZero() {
		return true
	}
	return f.Target.Started.Add(f.At).Sub(at) <= freshFor
}

// readings gives the distinct fresh engine readings of some Frames.
func readings(frames []*probe.Frame) []*engine.Reading {
	var out []*engine.Reading
	for _, f := range frames {
		r, ok := reading(f)
		if ok && (len(out) == 0 || !out[len(out)-1].At.Equal(r.At)) {
			out = append(out, r)
		}
	}
	return out
}

// increase is how much a counter grew over the readings; unknown if it ever
// fell or the engine restarted.
func increase(list []*engine.Reading, counter func(*engine.Reading) opt.Float) opt.Float {
	if len(list) < 2 {
		return opt.Float{}
	}
	for i := 1; i < len(list); i++ {
		before, after := counter(list[i-1]), counter(list[i])
		if list[i].Restarted || !before.OK || !after.OK || after.V < before.V {
			return opt.Float{}
		}
	}
	return opt.Of(counter(list[len(list)-1]).V - counter(list[0]).V)
}

// everyFrame gives the mean of a value that must be known in all Frames.
func everyFrame(frames []*probe.Frame, value func(*probe.Frame) opt.Float) opt.Float {
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

func waiting(f *probe.Frame) opt.Float {
	if r, ok := reading(f); ok {
		return r.Waiting
	}
	return opt.Float{}
}

// busiest is the highest figure of any GPU: of those on a host, only some may
// serve the target. It is unknown if one does not tell, or if none of them can
// be the target's.
func busiest(f *probe.Frame, figure func(*probe.GPUReading) opt.Float) opt.Float {
	if !fresh(f, f.GPU.At) || !gpusServe(f) {
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

// gpusServe tells whether the GPUs that were read are those of the target. The
// local ones (NVML) say nothing about a server elsewhere, or about the embedded
// engine, which computes on none; an exporter was named for the target.
func gpusServe(f *probe.Frame) bool {
	if !strings.HasPrefix(f.GPU.Source, "nvml") {
		return true
	}
	if f.Target.Embedded {
		return false
	}
	host, _, err := net.SplitHostPort(f.Target.Host)
	if err != nil {
		host = f.Target.Host
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func sm(r *probe.GPUReading) opt.Float     { return r.SM }
func dram(r *probe.GPUReading) opt.Float   { return r.DRAM }
func tensor(r *probe.GPUReading) opt.Float { return r.Tensor }

func ttft(c *probe.Client) probe.Summary { return c.TTFT }
func tpot(c *probe.Client) probe.Summary { return c.TPOT }
