package ui

import (
	"fmt"
	"time"

	"sonde/probe"
)

// staleAfter is the age from which on a reading carries its age.
const staleAfter = 3 * time.Second

// engineAge is how old the engine's word was when the Frame closed. Readings
// have wall times, Frames count from the session's start.
func engineAge(f *probe.Frame) (time.Duration, bool) {
	if !f.Engine.Have {
		return 0, false
	}
	return age(f, f.Engine.Reading.At), true
}

// gpuAge is how old the hardware's word was when the Frame closed.
func gpuAge(f *probe.Frame) (time.Duration, bool) {
	if len(f.GPU.GPUs) == 0 {
		return 0, false
	}
	return age(f, f.GPU.At), true
}

// age without both wall times is unknown and counts as fresh.
func age(f *probe.Frame, at time.Time) time.Duration {
	if f.Target.Started.IsZero() || at.IsZero() {
		return 0
	}
	return max(0, f.Target.Started.Add(f.At).Sub(at))
}

// ageNote is "" for a fresh reading, else its age for the title.
func ageNote(d time.Duration, ok bool) string {
	if !ok || d <= staleAfter {
		return ""
	}
	return fmt.Sprintf("%d s old", int(d.Seconds()))
}

// gpuTotals summarises all devices: means of ratios, sums of power and memory.
type gpuTotals struct {
	sm, dram, busy, power, memUsed, memTotal probe.OptionalFloat
	powered                                  int // devices that told their power
}

func overGPUs(gpus []probe.GPUReading) gpuTotals {
	var sm, dram, busy, power, used, total mean
	for i := range gpus {
		g := &gpus[i]
		sm.add(g.SM)
		dram.add(g.DRAM)
		busy.add(g.Busy)
		power.add(g.Power)
		used.add(g.MemUsed)
		total.add(g.MemTotal)
	}
	return gpuTotals{
		sm: sm.known(), dram: dram.known(), busy: busy.known(),
		power: power.total(), powered: power.n,
		memUsed: used.total(), memTotal: total.total(),
	}
}

func (m mean) known() probe.OptionalFloat {
	if m.n == 0 {
		return probe.OptionalFloat{}
	}
	return probe.OptionalFloat{V: m.value(), OK: true}
}

func (m mean) total() probe.OptionalFloat {
	return probe.OptionalFloat{V: m.sum, OK: m.n > 0}
}
