package ui

import (
	"fmt"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// staleAfter is the age from which on a reading carries its age.
const staleAfter = 3 * time.Second

// engineAge is how old the engine's word was when the Frame closed. Readings
// have wall times, Frames count from the session's start.
func engineAge(f *frame.Frame) (time.Duration, bool) {
	if !f.Engine.Have {
		return 0, false
	}
	return age(f, f.Engine.Reading.At), true
}

// gpuAge is how old the hardware's word was when the Frame closed.
func gpuAge(f *frame.Frame) (time.Duration, bool) {
	if len(f.GPU.GPUs) == 0 {
		return 0, false
	}
	return age(f, f.GPU.At), true
}

// age without both wall times is unknown and counts as fresh.
func age(f *frame.Frame, at time.Time) time.Duration {
	if f.Target.Started.IsZero() || at.IsZero() {
		return 0
	}
	return max(0, f.Target.Started.Add(f.At).Sub(at))
}

// periodsUntilStale is how many periods of a slow exporter its value is held for.
const periodsUntilStale = 3

// gpuHeld is how long a GPU reading counts: an exporter that measures every 30 s
// is not late after 4.
func gpuHeld(f *frame.Frame) time.Duration {
	return max(staleAfter, periodsUntilStale*f.GPU.Period)
}

// gpuFresh tells whether the GPU reading still counts.
func gpuFresh(f *frame.Frame) bool {
	age, ok := gpuAge(f)
	return ok && age <= gpuHeld(f)
}

// gpuAgeNote is "" for a reading that counts, else its age for the title.
func gpuAgeNote(f *frame.Frame) string {
	if gpuFresh(f) {
		return ""
	}
	return ageNote(gpuAge(f))
}

// ageNote is "" for a fresh reading, else its age for the title.
func ageNote(d time.Duration, ok bool) string {
	if !ok || d <= staleAfter {
		return ""
	}
	return fmt.Sprintf("%d s old", int(d.Seconds()))
}

// gpuTotals summarises all devices: means of ratios, the sum of power. A GPU that
// is split gives its power, its parts their activity.
type gpuTotals struct {
	sm, dram, busy, power opt.Float
	smMost, busyMost      opt.Float // of the busiest device
	devices               int       // rows, parts included
	wholes                int       // devices that are no part of another one
	powered               int       // of them, those that told their power
}

func overGPUs(gpus []gpu.Reading) gpuTotals {
	var sm, dram, busy, power mean
	var smMost, busyMost opt.Float
	for i := range gpus {
		g := &gpus[i]
		sm.add(g.SM)
		smMost, busyMost = higher(smMost, g.SM), higher(busyMost, g.Busy)
		dram.add(g.DRAM)
		busy.add(g.Busy)
		if g.Parent == "" {
			power.add(g.Power)
		}
	}
	return gpuTotals{
		sm: sm.known(), dram: dram.known(), busy: busy.known(),
		smMost: smMost, busyMost: busyMost,
		power: power.total(), powered: power.n, devices: len(gpus), wholes: wholeGPUs(gpus),
	}
}

func higher(a, b opt.Float) opt.Float {
	if !a.OK || b.OK && b.V > a.V {
		return b
	}
	return a
}

func (m mean) known() opt.Float {
	if m.n == 0 {
		return opt.Float{}
	}
	return opt.Float{V: m.value(), OK: true}
}

func (m mean) total() opt.Float {
	return opt.Float{V: m.sum, OK: m.n > 0}
}
