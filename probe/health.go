package probe

import (
	"fmt"
	"runtime"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/process"
)

// Process tells how the process that measures fares. It is asked by one goroutine.
type Process interface {
	// CPU is the processor time used since the start; not ok where it is unknown.
	CPU() (used time.Duration, ok bool)
	// LongestPause is the longest collection of garbage since the last call.
	LongestPause() time.Duration
}

// thisProcess is our own, by the system and the runtime.
type thisProcess struct{ pauses *process.Pauses }

func (thisProcess) CPU() (time.Duration, bool)    { return process.CPU() }
func (p thisProcess) LongestPause() time.Duration { return p.pauses.Longest() }

// healthWatch follows how much of the machine our own process takes and how far
// behind it runs. It belongs to the ticking goroutine.
type healthWatch struct {
	process Process
	cpuAt   time.Duration // at the last tick
	cpuOK   bool
	cpuMean float64 // smoothed, in cores
	lateMax time.Duration
	pause   time.Duration // the longest collection of garbage lately
	filled  float64       // share of the asked streams that are in flight, smoothed
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

// start begins to follow p, or our own process if that is nil.
func (h *healthWatch) start(p Process) {
	if p == nil {
		p = thisProcess{process.NewPauses()}
	}
	h.process = p
	h.cpuAt, h.cpuOK = p.CPU()
	h.filled = 1
}

// frame judges the slice that a tick closed. stamps is "kernel" or "read".
func (h *healthWatch) frame(t *measure.Tick, slice, tick time.Duration, stamps string, wish frame.Load) frame.Health {
	h.fill(t, wish)
	if slice < tick+stoppedAfter { // else we did not run at all: that is told apart
		h.lateMax = max(slice-tick, h.lateMax/2)
	}
	h.pause = max(h.process.LongestPause(), h.pause/2)
	out := frame.Health{
		Stamps: stamps, LateMsP99: t.LateMS.P99, CPU: h.cpu(slice),
		CoalescedShare: t.CoalescedShare, GCPauseMs: inMS(h.pause),
	}
	out.Why = h.why(&out, t, tick)
	if out.Why == "" && h.filled < fillAtLeast {
		out.Why = fmt.Sprintf("only %.0f %% of the %d streams can be kept in flight", 100*h.filled, wish.Concurrency)
	}
	out.Bottleneck = out.Why != ""
	return out
}

func (h *healthWatch) why(out *frame.Health, t *measure.Tick, tick time.Duration) string {
	cores, gap := float64(runtime.GOMAXPROCS(0)), t.Client.Gap
	timersMS := inMS(h.lateMax)
	switch {
	case out.CPU.OK && out.CPU.V > busyShare*cores:
		return fmt.Sprintf("this process uses %.1f of %.0f cores", out.CPU.V, cores)
	case t.LateMS.N > 0 && gap.N > 0 && t.LateMS.P99 > max(lateAtLeastMS, lateInGaps*gap.P50):
		return fmt.Sprintf("tokens are read %.1f ms late (p99)", t.LateMS.P99)
	case h.lateMax > tick:
		return fmt.Sprintf("our own timers are %.0f ms late", timersMS)
	case out.Stamps != "kernel" && gap.N > 0 && timersMS > max(readLateMS, readLateInGaps*gap.P50):
		return fmt.Sprintf("arrivals are stamped by our reads, and our timers are %.0f ms late", timersMS)
	case out.GCPauseMs > pauseAtLeastMS:
		return fmt.Sprintf("collecting garbage stopped us for %.0f ms", out.GCPauseMs)
	}
	return ""
}

// fill follows how many of the asked streams are in flight in a closed loop.
// Between two requests of a stream lies our own work; workers that wait because
// the server refused them are no sign of it.
func (h *healthWatch) fill(t *measure.Tick, wish frame.Load) {
	if wish.Rate > 0 || wish.Concurrency == 0 || t.Level != h.level {
		h.level, h.filled = t.Level, 1
		return
	}
	if t.Client.Retrying > 0 || t.Client.OK == 0 {
		return
	}
	share := min(1, float64(t.Client.InFlight)/float64(wish.Concurrency))
	h.filled += fillSmoothing * (share - h.filled)
}

// cpu is the process's use of cores, smoothed over about a second.
func (h *healthWatch) cpu(slice time.Duration) opt.Float {
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
