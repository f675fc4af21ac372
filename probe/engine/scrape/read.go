package scrape

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// snapshot is a reading with what the next one needs to tell how fast things move.
type snapshot struct {
	engine.Reading
	model   string
	started float64 // process start, Unix seconds; 0 if unknown
	series  map[engine.Field]counters
	onPage  []string // models on the metrics page
	digits  int      // significant digits of counters; 0 = all
	parts   []part   // replicas, by name
	held    map[engine.Field]held

	fromExtra map[engine.Field]bool // counters that another page than the metrics page gave
}

// counters are the values of one counter's series, one per rank.
type counters map[string]float64

func (c counters) total() float64 {
	sum := 0.0
	for _, v := range c {
		sum += v
	}
	return sum
}

// newSnapshot makes a reading of which nothing is known yet.
func newSnapshot(model string) snapshot {
	s := snapshot{model: model, series: map[engine.Field]counters{}, held: map[engine.Field]held{}, fromExtra: map[engine.Field]bool{}}
	s.Origins = map[engine.Field]engine.Origin{}
	return s
}

// firstFew lists names; a gateway may have hundreds.
func firstFew(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// otherModelsError is a page that carries several models, and not the one to look at.
type otherModelsError struct{ onPage []string }

func (e *otherModelsError) Error() string {
	return fmt.Sprintf("the metrics are of several models (%s): choose one with --model", firstFew(e.onPage, 8))
}

// read takes one page apart by the tables that fit it, the engine's own first.
// of.model is the model to look at where a page carries several; the error, an
// *otherModelsError, says that it is none of them.
func (b *factBook) read(page prom.Page, fits []*kinds.Kind, of subject, at time.Time) (snapshot, error) {
	model := of.model
	s := newSnapshot(model)
	s.At = at
	s.Notes = append(s.Notes, page.Notes()...)
	if once, seen, ok := oncePerTarget(page); ok {
		page, b = once, newFactBook() // its label sets are new ones each time
		if len(seen) > 0 {
			s.Note(firstFew(seen, 2))
		}
	}
	s.onPage = models(page, fits[0].Table, b)
	only := ""
	if len(s.onPage) > 0 {
		only = match(s.onPage, model)
		if only == "" && len(s.onPage) > 1 {
			return s, &otherModelsError{s.onPage}
		}
		if s.Model = only; only == "" {
			s.Model = s.onPage[0]
		}
		if fits[0].Table.ModelFrom == nil && len(s.onPage) == 1 {
			only = "" // nothing to leave out
		} else {
			only = s.Model
		}
	}
	v := view{page: page, only: only, several: len(s.onPage) > 1, facts: b, mayRepeat: mayRepeat(page)}
	s.divide(v, fits, of)
	if err := s.narrow(&v, of); err != nil {
		return s, err
	}
	for _, k := range fits {
		v.table = k.Table
		s.table(v, k)
	}
	for _, p := range page.Samples(startTime) {
		s.started = max(s.started, p.Value)
	}
	return s, nil
}

// match finds a model among those of a page; some engines change the case.
func match(onPage []string, model string) string {
	for _, m := range onPage {
		if strings.EqualFold(m, model) {
			return m
		}
	}
	return ""
}

// table reads what one table names, as far as no table before it has.
func (s *snapshot) table(v view, k *kinds.Kind) {
	t := v.table
	if s.Engine == "" && !t.Companion {
		s.Engine = k.ID
	}
	s.Router = s.Router || t.Router
	s.digits = max(s.digits, t.Digits)
	for f, list := range t.Fields {
		switch {
		case f == engine.FieldKVFill, f == engine.FieldHitRateGauge: // fractions
		case s.Distribution(f) != nil:
			s.distribution(v, f, list)
		default:
			s.figure(v, f)
		}
	}
	s.kvFill(v)
	s.CountersOnFinish = s.CountersOnFinish || t.OnFinish && (s.PromptTokens.OK || s.GenerationTokens.OK)
	s.rateGauge(v)
	s.prefixUnit(t)
	s.settings(v)
	s.circumstances(v)
}

// distribution takes a distribution that no page has given yet.
func (s *snapshot) distribution(v view, f engine.Field, list kinds.Ways) {
	to := s.Distribution(f)
	if h, p := v.histogram(list); len(to.Bounds) == 0 && len(h.Bounds) > 0 {
		*to = h
		s.from(v, f, p)
	}
}

// circumstances notes through what the page came and how many ranks it is of.
func (s *snapshot) circumstances(v view) {
	if s.Ranks == 0 {
		_, ranks := v.perRank(engine.FieldRunning)
		s.Ranks = len(ranks)
	}
	for _, via := range v.table.Via {
		if s.Via == "" && cameThrough(v, via) {
			s.Via = via.Name
		}
	}
	for _, text := range v.table.Notes {
		s.Note(text)
	}
}

// cameThrough reports whether a page came through that.
func cameThrough(v view, w kinds.Via) bool {
	if w.Prefix == "" && w.Label == "" {
		return w.Metric == "" || v.page.Has(w.Metric)
	}
	p, ok := v.pick(slices.Concat(v.table.Fields[engine.FieldRunning], v.table.Fields[engine.FieldGenerationTokens]), "")
	if !ok || w.Prefix != "" && w.Prefix != p.prefix {
		return false
	}
	return w.Label == "" || slices.ContainsFunc(v.series(p, p.Metrics[0], ""), func(x prom.Sample) bool { return x.Labels[w.Label] != "" })
}

// figure adds up a gauge or a counter over ranks, and keeps a counter's series. Ranks share
// their greatest length of a model.
func (s *snapshot) figure(v view, f engine.Field) {
	to := s.Figure(f)
	p, ranks := v.perRank(f)
	if to.OK || len(ranks) == 0 {
		return
	}
	if s.Counter(f) != nil && v.partlyUnknown(p) {
		return // a sum without that rank would seem to fall, and to leap when it is back
	}
	series, greatest := counters{}, 0.0
	for _, r := range ranks {
		series[r.key], greatest = r.value, max(greatest, r.value)
	}
	if *to = opt.Of(series.total()); f == engine.FieldMaxModelLen {
		*to = opt.Of(greatest)
	}
	if !to.OK {
		return
	}
	s.from(v, f, p)
	if s.Counter(f) != nil {
		s.series[f] = series
	}
}

// rateGauge reads a fraction that the engine works out itself; -1 stands for none.
// Where there are counters the rate is made of them.
func (s *snapshot) rateGauge(v view) {
	p, ranks := v.perRank(engine.FieldHitRateGauge)
	if s.PrefixHitRate.OK || s.PrefixQueries.OK || len(ranks) != 1 || !(ranks[0].value >= 0 && ranks[0].value <= 1) {
		return
	}
	s.PrefixHitRate = opt.Of(ranks[0].value)
	s.from(v, engine.FieldHitRateGauge, p)
}

// prefixUnit says what hits and queries of the prefix cache count.
func (s *snapshot) prefixUnit(t *kinds.Table) {
	if !s.PrefixQueries.OK || s.PrefixUnit != "" {
		return
	}
	s.PrefixUnit = engine.UnitTokens
	if t.Unit != nil {
		s.PrefixUnit = t.Unit(&s.Reading)
	}
	if s.PrefixUnit != engine.UnitTokens {
		for _, f := range []engine.Field{engine.FieldPrefixQueries, engine.FieldPrefixHits} {
			o := s.Origins[f]
			o.Remark = "in " + string(s.PrefixUnit)
			s.Origins[f] = o
		}
	}
}

// from notes where a field comes from.
func (s *snapshot) from(v view, f engine.Field, p picked) {
	s.Origins[f] = engine.Origin{Source: v.source(p), At: s.At, Remark: v.table.Remarks[f]}
}
