package probe

import (
	"fmt"
	"runtime"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/process"
)

// healthWatch follows how much of the machine our own process takes and how far
// behind it runs. It belongs to the ticking goroutine.
type healthWatch struct {
	cpuAt   time.Duration // process CPU time at the last tick
	cpuOK   bool
	cpuMean float64 // smoothed, in cores
	lateMax time.Duration
}

// Above these the numbers are about us and not about the server. Reads that are
// a little late harm nothing, because arrivals carry the kernel's stamps; reads
// that are later than the next token mean that we cannot follow.
const (
	busyShare     = 0.9 // of the cores that the program may use
	lateAtLeastMS = 25.0
	lateInGaps    = 1.0 // median gaps
	cpuSmoothing  = 0.25
)

func (h *healthWatch) start() { h.cpuAt, h.cpuOK = process.CPU() }

func (h *healthWatch) frame(t *measure.Tick, slice, tick time.Duration) Health {
	if slice < tick+stoppedAfter { // else we did not run at all: that is told apart
		h.lateMax = max(slice-tick, h.lateMax/2)
	}
	out := Health{LateMsP99: t.LateMS.P99, CPU: h.cpu(slice), CoalescedShare: t.CoalescedShare}
	cores := float64(runtime.GOMAXPROCS(0))
	gap := t.Client.Gap
	switch {
	case out.CPU.OK && out.CPU.V > busyShare*cores:
		out.Why = fmt.Sprintf("this process uses %.1f of %.0f cores", out.CPU.V, cores)
	case t.LateMS.N > 0 && gap.N > 0 && t.LateMS.P99 > lateAtLeastMS && t.LateMS.P99 > lateInGaps*gap.P50:
		out.Why = fmt.Sprintf("tokens are read %.1f ms late (p99)", t.LateMS.P99)
	case h.lateMax > tick:
		out.Why = fmt.Sprintf("our own timers are %d ms late", h.lateMax.Milliseconds())
	}
	out.Bottleneck = out.Why != ""
	return out
}

// cpu is the process's use of cores, smoothed over about a second.
func (h *healthWatch) cpu(slice time.Duration) opt.Float {
	now, ok := process.CPU()
	if !ok || !h.cpuOK || slice <= 0 {
		return opt.Float{}
	}
	share := (now - h.cpuAt).Seconds() / slice.Seconds()
	h.cpuAt = now
	h.cpuMean += cpuSmoothing * (share - h.cpuMean)
	return opt.Of(h.cpuMean)
}
