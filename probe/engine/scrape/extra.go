package scrape

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
)

// extraState is an extra page with what was last read from it.
type extraState struct {
	kinds.Extra
	asked time.Time
	last  answer // status 200
	why   string // why that request had no answer; "" if it had one
	gone  bool   // the server does not have the page, or it is of another form
}

// extraRetry is the time between two reads of a page that failed for now.
const extraRetry = 5 * time.Second

// readExtras adds what the engine's other pages report to a reading. It returns how many did,
// and why the last that did not has not. havePage: the metrics page is part of the reading.
// A page that is kept from a scrape before counts only while no other fails: a dead engine
// would seem to live on it.
func (s *Source) readExtras(ctx context.Context, shot *snapshot, havePage bool) (read int, why string) {
	kept, failing := 0, !havePage && s.identity.MetricsURL != ""
	for _, e := range s.extrasOf() {
		if e.Instead && havePage {
			continue
		}
		fresh := s.askExtra(ctx, e)
		if e.why == "" {
			e.why = e.fill(shot)
		}
		switch {
		case e.gone && e.Instead: // it would have been a stand-in: what is wrong with the metrics page is noted
		case e.why != "":
			why, failing = e.why, failing || !e.gone
			shot.Note(e.why)
		case fresh:
			read++
		default:
			kept++
		}
	}
	if read == 0 && !failing {
		read = kept
	}
	return read, why
}

// fill adds what the page last said. It returns what is wrong with it, in words.
func (e *extraState) fill(shot *snapshot) (wrong string) {
	if shot.At.IsZero() {
		shot.At = e.last.at
	}
	into := kinds.Into{Reading: &shot.Reading, Wanted: shot.model, Page: e.Path, At: e.last.at, Series: map[engine.Field]map[string]float64{}}
	if err := e.Read(e.last.body, into); err != nil {
		e.gone = true
		return fmt.Sprintf("%s: %v", e.Path, err)
	}
	for f, series := range into.Series {
		shot.series[f] = series
	}
	return ""
}

// askExtra fetches an extra page if it is due, and reports whether it was. A page that is
// not there is requested seldom, or never again.
func (s *Source) askExtra(ctx context.Context, e *extraState) bool {
	least := e.Every
	switch {
	case e.gone && e.Once:
		return false
	case e.gone:
		least = max(least, searchEvery)
	case e.why != "":
		least = max(least, extraRetry)
	}
	if !e.asked.IsZero() && time.Since(e.asked) < least {
		return false
	}
	e.asked = time.Now()
	c := forJSON(s.fetch.config.rootAt(e.Path), cmp.Or(e.Timeout, probeTimeout))
	a, err := s.fetch.send(ctx, c)
	e.gone = err == nil && (a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotImplemented)
	switch {
	case err != nil:
		_, e.why = s.fetch.explain(c.address, err, c.timeout)
	case a.status != http.StatusOK:
		e.why = s.fetch.pageRefusal(a, &kinds.Kind{Missing: e.Missing})
	default:
		e.last, e.why = a, ""
	}
	return true
}

// extrasOf returns the extra pages of the engine, with their state.
func (s *Source) extrasOf() []*extraState {
	if s.extraKind != s.identity.Kind {
		s.extraKind, s.extras = s.identity.Kind, nil
		for _, e := range kinds.ByID(s.identity.Kind).Extra {
			s.extras = append(s.extras, &extraState{Extra: e})
		}
	}
	return s.extras
}
