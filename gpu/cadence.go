package gpu

import (
	"bytes"
	"hash/maphash"
	"slices"
	"time"
)

// fingerprint tells whether the GPU lines of a page changed. Comparing lines
// rather than readings notices a collection in which only a counter moved, as on
// an idle GPU.
type fingerprint struct {
	known map[string]bool // whether a family is a GPU's
	seed  maphash.Seed
	sum   uint64
	set   bool
}

func (f *fingerprint) changed(body []byte) bool {
	if !f.set {
		f.seed, f.known = maphash.MakeSeed(), map[string]bool{"": false}
	}
	var h maphash.Hash
	h.SetSeed(f.seed)
	for line := range bytes.Lines(body) {
		if f.wanted(familyOf(line)) {
			h.Write(line)
		}
	}
	sum := h.Sum64()
	changed := !f.set || sum != f.sum
	f.sum, f.set = sum, true
	return changed
}

func (f *fingerprint) wanted(family string) bool {
	yes, asked := f.known[family]
	if !asked {
		yes = isGPUFamily(family)
		f.known[family] = yes
	}
	return yes
}

// cadence learns how often a page has new values.
type cadence struct {
	seen     int // changes, the first page included
	last     time.Time
	spacings []time.Duration // the newest few
}

func (c *cadence) change(at time.Time) {
	const keep = 5
	c.seen++
	// How old the first page was is unknown: the first spacing starts at the
	// second one.
	if c.seen > 2 {
		c.spacings = append(c.spacings, at.Sub(c.last))
		c.spacings = c.spacings[max(0, len(c.spacings)-keep):]
	}
	c.last = at
}

// period is the lower median, in whole seconds: values that happened to stay the
// same over a collection only make a spacing longer. 0 until known.
func (c *cadence) period() time.Duration {
	if len(c.spacings) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(c.spacings))
	return max(time.Second, sorted[(len(sorted)-1)/2].Round(time.Second))
}
