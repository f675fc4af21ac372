package kinds

import (
	"fmt"
	"slices"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// Extra is a page beside the metrics page, in JSON as a rule, that is read in the same
// scrape and says what the metrics page does not. Engines without a metrics page have
// only such pages.
type Extra struct {
	Path    string        // under the base; may hold a query
	Every   time.Duration // least time between two reads; 0 = with every scrape
	Instead bool          // read only while the metrics page cannot be
	Once    bool          // a server that does not have it is not asked again, because it logs an error each time
	Timeout time.Duration // of one read; 0 = the usual one
	Missing string        // what to do where the server does not have it (404, 405, 501)

	Fields []engine.Field // that it may hold

	// Read parses a response of status 200. An error, one sentence, is noted in the
	// reading.
	Read func(b Body, into Into) error
}

// Into is the reading that is being made, as an extra page is read into it.
type Into struct {
	*engine.Reading
	Wanted string                              // the model that was chosen
	Page   string                              // path of the extra page, for the origin
	At     time.Time                           // when the page was read
	Series map[engine.Field]map[string]float64 // counters by rank, of which rates are made
}

// Set writes a gauge, also over what another page has said. Unknown values are skipped.
// key names it on the page.
func (i Into) Set(f engine.Field, v opt.Float, key string) { i.Put(f, v, i.origin(key)) }

func (i Into) origin(key string) engine.Origin {
	return engine.Origin{Source: i.Page + " " + key, At: i.At}
}

// Fill is set for what no page has said yet.
func (i Into) Fill(f engine.Field, v opt.Float, key string) {
	if to := i.Figure(f); to != nil && !to.OK {
		i.Set(f, v, key)
	}
}

// Count writes a counter of the whole engine.
func (i Into) Count(f engine.Field, v opt.Float, key string) {
	if i.Set(f, v, key); v.OK {
		i.Series[f] = map[string]float64{"": v.V}
	}
}

// KV writes the fill of every rank; capacities, in tokens, weigh the mean and may be nil.
// One value that is not a fraction makes it unknown.
func (i Into) KV(ranks []engine.RankFill, capacities []float64, key string) {
	if slices.ContainsFunc(ranks, func(r engine.RankFill) bool { return !(r.Fill >= 0 && r.Fill <= 1) }) {
		i.Note(fmt.Sprintf("%s: %s is not a fraction from 0 to 1", i.Page, key))
		return
	}
	i.SetFills(ranks, capacities, i.origin(key))
}
