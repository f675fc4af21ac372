package scrape

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// extraPage is a page beside the metrics page, in JSON as a rule, that is read in
// the same scrape and says what the metrics page does not. Engines without a
// metrics page have only such pages.
type extraPage struct {
	path    string        // under the base; may hold a query
	every   time.Duration // least time between two reads; 0 = with every scrape
	instead bool          // read only while the metrics page cannot be
	once    bool          // a server that does not have it is not asked again: it minds
	timeout time.Duration // of one read; 0 = probeTimeout
	missing string        // the way out where the server does not have it (404, 405, 501)

	fields []engine.Field // what it may tell

	// read takes an answer of status 200 apart. It sets what it knows through into;
	// an error, one sentence, is noted in the reading.
	read func(a answer, into filler) error
}

// filler writes into the reading that is being made.
type filler struct {
	*snapshot
	page string    // its path, for the origin
	at   time.Time // when it was read
}

// set writes a gauge, also over what another page has said. Unknown values are
// left out. key names it on the page.
func (f filler) set(field engine.Field, v opt.Float, key string) {
	to := f.Figure(field)
	if to == nil || !v.OK || !finite(v.V) {
		return
	}
	*to = v
	f.from(field, engine.Origin{Source: f.page + " " + key, At: f.at})
}

// fill is set for what no page has said yet.
func (f filler) fill(field engine.Field, v opt.Float, key string) {
	if to := f.Figure(field); to != nil && !to.OK {
		f.set(field, v, key)
	}
}

// count writes one rank's part of a counter. Parts add up; rates are made of them.
func (f filler) count(field engine.Field, rank string, v opt.Float, key string) {
	to := f.Counter(field)
	if to == nil || !v.OK || !finite(v.V) {
		return
	}
	if f.series[field] == nil {
		f.series[field] = counters{}
	}
	f.series[field][rank] = v.V
	*to = opt.Of(f.series[field].total())
	f.from(field, engine.Origin{Source: f.page + " " + key, At: f.at})
}

// remark says what is unusual about a figure that has been set.
func (f filler) remark(field engine.Field, text string) {
	if o, known := f.Origins[field]; known {
		o.Remark = text
		f.from(field, o)
	}
}

// kv writes the fill of every rank; capacities, in tokens, weigh the mean and may be
// nil. One value that is no fraction makes it unknown.
func (f filler) kv(ranks []engine.RankFill, capacities []float64, key string) {
	if slices.ContainsFunc(ranks, func(r engine.RankFill) bool { return !(r.Fill >= 0 && r.Fill <= 1) }) {
		f.note(fmt.Sprintf("%s: %s gives no fraction from 0 to 1", f.page, key))
		return
	}
	f.fills(ranks, capacities, engine.Origin{Source: f.page + " " + key, At: f.at})
}

// fromExtra tells that a figure was read from one of these pages.
func fromExtra(o engine.Origin) bool { return strings.HasPrefix(o.Source, "/") }

// extraState is an extra page with what was last read from it.
type extraState struct {
	extraPage
	asked time.Time
	last  answer // status 200
	why   string // why there is no answer to that asking; "" if there is
	gone  bool   // the server does not have the page, or it is of another form
}

// extraRetry is the time between two reads of a page that failed for now.
const extraRetry = 5 * time.Second

// readExtras adds what the engine's other pages say to a reading. It returns how
// many did, and why the last that did not has not. havePage tells that the metrics
// page is part of the reading.
func (s *Source) readExtras(ctx context.Context, shot *snapshot, havePage bool) (read int, why string) {
	for _, e := range s.extrasOf() {
		if e.instead && havePage {
			continue
		}
		s.askExtra(ctx, e)
		if e.why == "" {
			e.why = e.fill(shot)
		}
		if e.gone && e.instead {
			continue // it would have been a stand-in: what the metrics page lacks is told
		}
		if e.why != "" {
			why = e.why
			shot.note(e.why)
			continue
		}
		read++
	}
	return read, why
}

// fill adds what the page last said. It returns what is wrong with it, in words.
func (e *extraState) fill(shot *snapshot) (wrong string) {
	if shot.At.IsZero() {
		shot.At = e.last.at
	}
	if err := e.read(e.last, filler{snapshot: shot, page: e.path, at: e.last.at}); err != nil {
		e.gone = true
		return fmt.Sprintf("%s: %v", e.path, err)
	}
	return ""
}

// askExtra fetches an extra page if it is due. A page that is not there is asked
// for seldom, or never again.
func (s *Source) askExtra(ctx context.Context, e *extraState) {
	least := e.every
	switch {
	case e.gone && e.once:
		return
	case e.gone:
		least = max(least, searchEvery)
	case e.why != "":
		least = max(least, extraRetry)
	}
	if !e.asked.IsZero() && time.Since(e.asked) < least {
		return
	}
	e.asked = time.Now()
	c := probe(s.fetch.config.rootAt(e.path))
	if e.timeout > 0 {
		c.timeout = e.timeout
	}
	a, err := s.fetch.get(ctx, c)
	e.gone = err == nil && (a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotImplemented)
	switch {
	case err != nil:
		_, e.why = s.fetch.explain(c.address, err, c.timeout)
	case a.status != http.StatusOK:
		e.why = pageRefusal(a, &kind{missing: e.missing})
	default:
		e.last, e.why = a, ""
	}
}

// extrasOf returns the extra pages of the engine, with their state.
func (s *Source) extrasOf() []*extraState {
	if s.extraKind != s.identity.Kind {
		s.extraKind, s.extras = s.identity.Kind, nil
		for _, e := range kindByID(s.identity.Kind).extra {
			s.extras = append(s.extras, &extraState{extraPage: e})
		}
	}
	return s.extras
}
