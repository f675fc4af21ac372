package gpu

import (
	"fmt"
	"slices"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/units"
)

// Doubts are the ways in which the values of a Reading contradict each other or cannot
// be true. The values in doubt are unknown in the Reading.
type Doubts uint8

// Doubts of a Reading.
const (
	DoubtCounters Doubts = 1 << iota // the profiling counters, or the busy time, stay at 0 while the GPU works
	DoubtRange                       // a share is far above 1
	DoubtMemory                      // more memory is used than there is
	DoubtPower                       // the power is many times its limit
	DoubtFrozen                      // the source repeats old values
	DoubtUnit                        // a share of time may be a fraction or per cent
)

var doubtNames = []string{"counters", "range", "memory", "power", "frozen", "unit"}

// MarshalText writes the names of the doubts, for recordings and JSON.
func (d Doubts) MarshalText() ([]byte, error) {
	var names []string
	for i, name := range doubtNames {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return []byte(strings.Join(names, " ")), nil
}

// UnmarshalText reads what MarshalText wrote. It ignores names that are unknown.
func (d *Doubts) UnmarshalText(text []byte) error {
	*d = 0
	for name := range strings.FieldsSeq(string(text)) {
		if i := slices.Index(doubtNames, name); i >= 0 {
			*d |= 1 << i
		}
	}
	return nil
}

// ShareMargin is up to where shares are 1: rounding and unequal clocks.
const ShareMargin = 1.05

const (
	works        = 0.5  // busy or SM share from which a GPU cannot be idle
	loadWatts    = 250  // draw that no idle GPU reaches, where the limit is unknown
	mostOverrun  = 3    // times the limit that a GPU may draw for an instant
	memoryMargin = 1.01 // used over total: the two are not read at the same moment
)

// Checked returns the readings without values that cannot be true, and says so in their
// notes. Every source goes through it.
func Checked(readings []Reading) []Reading {
	readings = slices.Clone(readings)
	for i := range readings {
		r := &readings[i]
		var said []string
		doubt := func(d Doubts, text string) {
			r.Doubts |= d
			said = append(said, text)
		}
		r.checkShares(doubt)
		r.checkAmounts(doubt)
		r.checkCounters(doubt)
		if len(said) > 0 {
			r.Note = Join(append(said, r.Note)...)
		}
	}
	return readings
}

// checkShares makes shares just above 1 a 1, and those far above it unknown: which unit
// was meant would be a guess.
func (r *Reading) checkShares(doubt func(Doubts, string)) {
	for i := range quantities {
		q := &quantities[i]
		v := q.value(r)
		switch {
		case q.unit != "" || v.V <= 1:
		case v.V <= ShareMargin:
			*v = opt.Of(1)
		default:
			doubt(DoubtRange, fmt.Sprintf("%s of %s is not a share and not shown", q.name, units.Share(v.V)))
			*v = opt.Float{}
		}
	}
}

// checkAmounts drops memory and power that exceed what the device has.
func (r *Reading) checkAmounts(doubt func(Doubts, string)) {
	if r.MemTotal.OK && r.MemUsed.V > memoryMargin*r.MemTotal.V {
		doubt(DoubtMemory, fmt.Sprintf("memory used is %.0f %% of the total and not shown", 100*r.MemUsed.V/r.MemTotal.V))
		r.MemUsed = opt.Float{}
	}
	if r.PowerLimit.OK && r.Power.V > mostOverrun*r.PowerLimit.V {
		doubt(DoubtPower, fmt.Sprintf("power of %.0f W with a limit of %.0f W is not shown", r.Power.V, r.PowerLimit.V))
		r.Power = opt.Float{}
	}
}

// checkCounters compares the profiling counters with the busy time and the power. While
// a kernel runs at least one SM is active: an exact 0 then comes from a counter that is
// stuck. Memory may be idle beside a small kernel, but not at full power.
func (r *Reading) checkCounters(doubt func(Doubts, string)) {
	hot := r.hot()
	stuck := func(v opt.Float) bool { return v.OK && v.V == 0 }
	switch {
	case r.Busy.V >= works && (stuck(r.SM) || stuck(r.DRAM) && !r.SM.OK && (hot || r.MemBusy.V >= works)):
		doubt(DoubtCounters, "the counters contradict each other: "+r.zeros()+" at 0 beside "+r.work()+", not shown")
		for _, v := range []*opt.Float{&r.SM, &r.DRAM, &r.Tensor, &r.Occupancy} {
			if stuck(*v) {
				*v = opt.Float{}
			}
		}
	case stuck(r.Busy) && r.SM.V >= works && hot:
		doubt(DoubtCounters, fmt.Sprintf("the counters contradict each other: busy 0 %% beside SM %s and %.0f W, not shown", units.Share(r.SM.V), r.Power.V))
		r.Busy = opt.Float{}
	}
}

// hot reports whether the power is that of a GPU that works.
func (r *Reading) hot() bool {
	if r.PowerLimit.OK {
		return r.Power.V >= r.PowerLimit.V/2
	}
	return r.Power.V >= loadWatts
}

// Works reports whether a GPU works: half of its time, its units or its bandwidth, or
// by its power.
func (r *Reading) Works() bool {
	return max(r.Busy.V, r.SM.V, r.DRAM.V) >= works || r.hot()
}

// Freeze drops what changes from moment to moment, because the source repeats old
// values; the note, which goes before what else is known, says so.
func (r *Reading) Freeze(note string) {
	total, limit, peak := r.MemTotal, r.PowerLimit, r.BandwidthPeak
	for i := range quantities {
		*quantities[i].value(r) = opt.Float{}
	}
	r.MemTotal, r.PowerLimit, r.BandwidthPeak = total, limit, peak
	r.Overheated = false
	r.Doubts |= DoubtFrozen
	r.Note = Join(note, r.Note)
}

// zeros names the profiling counters that are at 0.
func (r *Reading) zeros() string {
	var names []string
	for _, c := range []struct {
		name string
		v    opt.Float
	}{{"SM", r.SM}, {"DRAM", r.DRAM}, {"tensor", r.Tensor}, {"occupancy", r.Occupancy}} {
		if c.v.OK && c.v.V == 0 {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

// work is what shows that the GPU works.
func (r *Reading) work() string {
	text := "busy " + units.Share(r.Busy.V)
	if r.Power.OK {
		text += fmt.Sprintf(" and %.0f W", r.Power.V)
	}
	return text
}
