package core

import (
	"math"
	"time"
)

// Activity is what the hardware counters show, each 0 to 1.
type Activity struct {
	Busy   float64 // share of time in which a kernel ran
	SM     float64 // share of SM time with a warp resident; waiting for memory counts
	Tensor float64 // share of the cycles of the tensor cores
	DRAM   float64 // share of the bandwidth peak
}

// How far the SMs of a busy GPU are occupied. Large products fill them. When memory
// is the limit, the products are thin: of a few tokens, they have fewer tiles than the
// GPU has SMs, and attention has one piece of work per sequence and KV head, so that
// SMs stay empty until dozens of tokens are in the batch. Reductions between GPUs take
// a few SMs. The figures are our estimates.
const (
	smComputeBound = 0.98
	smThin, smWide = 0.3, 0.95 // bound by memory, with very few and with very many tokens
	smThinTokens   = 24        // tokens half way between them
	smLink         = 0.15
)

// activity of an iteration, averaged over its duration.
func (c *cost) activity(m *Machine) Activity {
	total := c.duration().Seconds()
	kernels, link := c.kernels().Seconds()/total, c.link.Seconds()/total
	tokens := float64(c.tokens)
	memoryBound := smThin + (smWide-smThin)*tokens/(tokens+smThinTokens)
	bound := c.compute.Seconds() / c.kernels().Seconds()
	return Activity{
		Busy:   kernels + link,
		SM:     kernels*(memoryBound+(smComputeBound-memoryBound)*bound) + link*smLink,
		Tensor: c.compute.Seconds() * m.flopsShare / total,
		DRAM:   c.bytes / total / m.Peaks.Bandwidth,
	}
}

// activityWindow is what the hardware counters average over, like an exporter that
// collects once a second.
const activityWindow = time.Second

// activityLog holds the iterations of the window. An iteration is added when it
// starts, so that a long one shows while it runs.
type activityLog struct {
	spans  []span
	joules float64 // of all iterations that began, above idle power
}

type span struct {
	start, end time.Duration
	Activity
}

func (l *activityLog) add(it Iteration, m *Machine) {
	old := 0
	for old < len(l.spans) && l.spans[old].end < it.start-activityWindow {
		old++
	}
	now := span{it.start, it.End, it.cost.activity(m)}
	l.spans = append(l.spans[old:], now)
	l.joules += (m.Watts(now.Activity) - m.idleWatts) * (it.End - it.start).Seconds()
}

// state is that of each GPU of an engine.
func (l *activityLog) state(now time.Duration, c *engine) GPUState {
	return GPUState{l.mean(now), c.gpu, c.memoryUsed(), l.joules + c.gpu.idleWatts*now.Seconds()}
}

// mean averages over the window that ends now; time without an iteration is idle.
func (l *activityLog) mean(now time.Duration) Activity {
	from := max(0, now-activityWindow)
	var sum Activity
	for _, s := range l.spans {
		share := (min(s.end, now) - max(s.start, from)).Seconds() / max(now-from, 1).Seconds()
		if share <= 0 {
			continue
		}
		sum.Busy += share * s.Busy
		sum.SM += share * s.SM
		sum.Tensor += share * s.Tensor
		sum.DRAM += share * s.DRAM
	}
	return sum
}

// GPUState is what one GPU does at a moment.
type GPUState struct {
	Activity
	Machine    Machine // under the faults of the moment
	MemoryUsed float64 // bytes
	Joules     float64 // since the start
}

// Watts rises from idle to the board's limit with memory traffic and
// arithmetic. The weights are our estimates: streaming memory alone draws 60 % of the
// range, the arithmetic of a prefill 85 %, both at once reach the limit.
func (m *Machine) Watts(a Activity) float64 {
	load := 0.6*a.DRAM/streamingShare + 0.85*a.Tensor/m.flopsShare*m.Clock
	return m.idleWatts + (m.MaxWatts-m.idleWatts)*min(1, load)
}

// Celsius follows power, from 34 °C idle to 74 °C at the limit, without the lag of a
// real heat sink. A GPU that lowers its clock is hot whatever it draws.
func (b *GPUState) Celsius() float64 {
	const slowdown = 88 // °C
	if b.Machine.Clock < 1 {
		return slowdown
	}
	m := &b.Machine
	return math.Round(34 + 40*(m.Watts(b.Activity)-m.idleWatts)/(m.MaxWatts-m.idleWatts))
}

// ThrottleReasons are the bits of nvmlDeviceGetCurrentClocksEventReasons that apply.
func (b *GPUState) ThrottleReasons() float64 {
	const idle, softwareThermal = 0x1, 0x20
	switch {
	case b.Machine.Clock < 1:
		return softwareThermal
	case b.Busy == 0:
		return idle
	}
	return 0
}

// memoryUsed is per GPU: its part of the weights and of the KV cache, which
// engines reserve at start, and the driver's own 1.5 GB.
func (s *Setup) memoryUsed() float64 {
	const driverBytes = 1.5e9
	kv := float64(s.KVTokens()) * s.Served.KVBytesPerToken() * s.Machine.kvReplicas(&s.Served)
	return (s.Served.WeightBytes+kv)/float64(s.Machine.GPUs) + driverBytes
}
