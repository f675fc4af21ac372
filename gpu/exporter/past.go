package exporter

import (
	"cmp"
	"maps"
	"math"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/probe/prom"
)

// frozenAfter is how long values may stand still: dcgm-exporter collects every 30 s by
// default.
const frozenAfter = 35 * time.Second

// Notes of readings that rest on what earlier pages showed.
const (
	noteFrozen    = "frozen: no value has changed for 35 s, not even the energy counter: the exporter is stuck, or collects less often"
	noteRepeats   = "frozen: no value has changed for 35 s, although the GPU works: the exporter is stuck, or collects less often"
	noteFractions = "busy time is read as 0 to 1: this exporter writes fractions instead of per cent"
	noteUnit      = "busy time is not shown: it may be a fraction or per cent"
)

// past is what earlier pages showed, of one exporter or of a fleet.
type past struct {
	units   map[string]unit   // by address; "" if there is only one exporter
	still   map[string]*still // by kind of exporter and device
	newest  time.Time         // when some device last had new values
	changes int               // pages with new values, the first included
	rhythm  prom.Rhythm       // of new values
}

// unit is how an exporter writes shares of time that are usually whole percentages.
type unit int

const (
	unsettled unit = iota
	percent
	fraction
)

// still is a device with the values that it has had since a moment.
type still struct {
	values map[string]float64
	since  time.Time // by our clock
	at     time.Time // when these values were taken
	energy bool      // one of them is an energy counter, which moves on an idle GPU, too
}

func newPast() *past { return &past{units: map[string]unit{}, still: map[string]*still{}} }

var energyCounters = []string{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_TOTAL_ENERGY_CONSUMPTION", "energy_joules_total", amdEnergy}

// look compares the values of a device, from a page of that moment, with those before.
func (h *past) look(f pageFormat, d *device, at time.Time) *still {
	key := f.name + " " + d.id
	if before := h.still[key]; before == nil || !maps.Equal(before.values, d.values) {
		h.still[key] = &still{d.values, time.Now(), at, d.first(energyCounters...).V > 0}
	}
	return h.still[key]
}

// taken is when the values of a device were taken that is on a page of that moment. Values
// that stand still are old, unless the exporter measures for each page and has no value that
// must move: an idle GPU without an energy counter may repeat itself.
func (h *past) taken(f pageFormat, d *device, at time.Time, works bool) time.Time {
	own, whole := h.look(f, d, at), h.look(f, d.board(), at)
	if f.faster == "" && !whole.energy && !works {
		return at
	}
	if own.at.After(whole.at) {
		return own.at
	}
	return whole.at
}

// learn takes the time of the newest values on a page. How old those of the first page were
// is unknown: the first spacing starts at the second.
func (h *past) learn(newest time.Time) {
	if !newest.After(h.newest) {
		return
	}
	if h.changes++; h.changes > 2 {
		h.rhythm.Add(newest.Sub(h.newest))
	}
	h.newest = newest
}

// freeze drops the values of GPUs that have stood still for too long.
func (h *past) freeze(readings []gpu.Reading, period time.Duration) {
	for i := range readings {
		r := &readings[i]
		s := h.still[strings.TrimSuffix(r.Source, gpu.ViaPrometheus)+" "+cmp.Or(r.Parent, r.ID)]
		switch {
		case s == nil || r.Lost || time.Since(s.since) < max(frozenAfter, 3*period):
		case s.energy:
			r.Freeze(noteFrozen)
		case r.Works():
			r.Freeze(noteRepeats)
		}
	}
}

// settle makes fractions percentages where an exporter writes 0.97 for 97 %, and drops
// values of which the unit is unclear. From 2 on a value is a percentage. One up to 1 is
// a fraction if the GPU works hard: it cannot be busy for 1 % of the time at full power.
// Whole percentages have no decimals, but an average of them has.
func (h *past) settle(f pageFormat, p prom.Page, devices map[string]*device) (notes map[*device]string) {
	names := gpu.Percentages(f.name)
	working := map[string]bool{}
	for _, d := range devices {
		for _, name := range names {
			switch v := d.values[name]; {
			case v >= 2:
				h.units[d.labels["instance"]] = percent
			case v > 0 && v <= gpu.ShareMargin:
				r := f.read(p, d, nvml.HostMemory(nil))
				working[d.labels["instance"]] = working[d.labels["instance"]] || r.Works()
			}
		}
	}
	notes = map[*device]string{}
	for _, d := range devices {
		exporter := d.labels["instance"]
		if h.units[exporter] == unsettled && working[exporter] {
			h.units[exporter] = fraction
		}
		for _, name := range names {
			v, has := d.values[name]
			switch {
			case !has || h.units[exporter] == percent:
			case h.units[exporter] == fraction:
				d.values[name] = 100 * v
				notes[d] = noteFractions
			case v != math.Trunc(v) && v < 2:
				delete(d.values, name)
				notes[d] = noteUnit
			}
		}
	}
	return notes
}
