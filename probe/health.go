package probe

import (
	"fmt"
	"runtime"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/process"
)

// Process reports how the process that measures is doing. One goroutine calls it.
type Process interface {
	// CPU is the processor time used since the start; not ok where it is unknown.
	CPU() (used time.Duration, ok bool)
	// LongestPause is the longest garbage collection since the last call.
	LongestPause() time.Duration
}

// thisProcess is our own, by the system and the runtime.
type thisProcess struct{ pauses *process.Pauses }

func (thisProcess) CPU() (time.Duration, bool)    { return process.CPU() }
func (p thisProcess) LongestPause() time.Duration { return p.pauses.Longest() }

// health follows how much of the machine our own process takes and how far behind
// it runs.
type health struct {
	process Process
	stamps  func() string // "kernel" or "read"
	tick    time.Duration
	cpuAt   time.Duration // at the last tick
	cpuOK   bool
	cpuMean float64 // smoothed, in cores
	lateMax time.Duration
	pause   time.Duration // the longest garbage collection recently
	filled  float64       // share of the requested streams that are in flight, smoothed
	level   int
}

// Above these the numbers are about us and not about the server. Reads that are
// a little late harm nothing as long as arrivals carry the kernel's stamps; reads
// that are later than the next token mean that we cannot follow. Where the reads
// themselves are the stamps, our own lateness is in every figure.
const (
	busyShare      = 0.9 // of the cores that the program may use
	lateAtLeastMS  = 25.0
	lateInGaps     = 1.0 // median gaps
	readLateMS     = 5.0
	readLateInGaps = 0.2
	pauseAtLeastMS = 25.0
	cpuSmoothing   = 0.25
	fillAtLeast    = 0.7
	fillSmoothing  = 0.05 // over five seconds
)

// newHealth follows the process of the Options, or our own if that is nil.
func newHealth(opt Options, stamps func() string) *health {
	h := &health{process: opt.Process, stamps: stamps, tick: opt.Tick, filled: 1}
	if h.process == nil {
		h.process = thisProcess{process.NewPauses()}
	}
	h.cpuAt, h.cpuOK = h.process.CPU()
	return h
}

// add judges the slice that a tick closed.
func (h *health) add(f *frame.Frame, t *collect.Tick) {
	load := f.Load.Requested
	h.fill(t, load)
	if !f.Stopped { // else we did not run at all: that is reported apart
		h.lateMax = max(f.Slice-h.tick, h.lateMax/2)
	}
	h.pause = max(h.process.LongestPause(), h.pause/2)
	f.Health = frame.Health{
		Stamps: h.stamps(), LateMsP99: t.LateMS.P99, CPU: h.cpu(f.Slice),
		CoalescedShare: t.CoalescedShare, GCPauseMs: inMS(h.pause),
	}
	out := &f.Health
	out.Why = h.why(out, t)
	if out.Why == "" && h.filled < fillAtLeast {
		out.Why = fmt.Sprintf("only %.0f %% of the %d streams can be kept in flight", 100*h.filled, load.Concurrency)
	}
	out.Bottleneck = out.Why != ""
}

func (h *health) why(out *frame.Health, t *collect.Tick) string {
	cores, gap := float64(runtime.GOMAXPROCS(0)), t.Client.Gap
	timersMS := inMS(h.lateMax)
	switch {
	case out.CPU.OK && out.CPU.V > busyShare*cores:
		return fmt.Sprintf("this process uses %.1f of %.0f cores", out.CPU.V, cores)
	case t.LateMS.N > 0 && gap.N > 0 && t.LateMS.P99 > max(lateAtLeastMS, lateInGaps*gap.P50):
		return fmt.Sprintf("tokens are read %.1f ms late (p99)", t.LateMS.P99)
	case h.lateMax > h.tick:
		return fmt.Sprintf("our own timers are %.0f ms late", timersMS)
	case out.Stamps != "kernel" && gap.N > 0 && timersMS > max(readLateMS, readLateInGaps*gap.P50):
		return fmt.Sprintf("arrivals are stamped by our reads, and our timers are %.0f ms late", timersMS)
	case out.GCPauseMs > pauseAtLeastMS:
		return fmt.Sprintf("garbage collection stopped us for %.0f ms", out.GCPauseMs)
	}
	return ""
}

// fill follows how many of the requested streams are in flight in a closed loop.
// Between two requests of a stream lies our own work; workers that wait because
// the server refused them are no sign of it, and streams that think do as requested.
func (h *health) fill(t *collect.Tick, load frame.Load) {
	if load.Rate > 0 || load.Concurrency == 0 || t.Level != h.level {
		h.level, h.filled = t.Level, 1
		return
	}
	if t.Client.Retrying > 0 || t.Client.OK == 0 {
		return
	}
	share := min(1, float64(t.Client.InFlight+t.Client.Thinking)/float64(load.Concurrency))
	h.filled += fillSmoothing * (share - h.filled)
}

// cpu is the process's use of cores, smoothed over about a second.
func (h *health) cpu(slice time.Duration) opt.Float {
	now, ok := h.process.CPU()
	if !ok || !h.cpuOK || slice <= 0 {
		return opt.Float{}
	}
	share := (now - h.cpuAt).Seconds() / slice.Seconds()
	h.cpuAt = now
	h.cpuMean += cpuSmoothing * (share - h.cpuMean)
	return opt.Of(h.cpuMean)
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
