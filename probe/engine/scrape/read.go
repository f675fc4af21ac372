package scrape

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
	"sonde/probe/plain"
	"sonde/probe/prom"
)

// snapshot is a reading with what the next one needs to work out how fast things move.
type snapshot struct {
	engine.Reading
	model   string  // that was chosen
	started float64 // process start, Unix seconds; 0 if unknown
	series  map[engine.Field]counters
	grows   map[string]counters // see monotone
	onPage  []string            // models on the metrics page
	digits  int                 // significant digits of counters; 0 = all
	parts   []part              // replicas, by name
	held    map[engine.Field]held
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
	s := snapshot{model: model, series: map[engine.Field]counters{}, held: map[engine.Field]held{}}
	s.Origins = map[engine.Field]engine.Origin{}
	return s
}

// otherModelsError is a page that carries several models, but not the chosen one.
type otherModelsError struct{ onPage []string }

func (e *otherModelsError) Error() string {
	return fmt.Sprintf("the metrics cover several models (%s): choose one with --model", plain.FirstFew(e.onPage, 8))
}

// read makes a snapshot of one page by the tables that fit it, the engine's own first. The
// error says that the chosen model or replica is not on it.
func (b *factBook) read(page prom.Page, fits []*kinds.Kind, of subject, at time.Time) (snapshot, error) {
	s := newSnapshot(of.model)
	s.At = at
	s.Notes = append(s.Notes, page.Notes()...)
	if once, seen, ok := oncePerTarget(page); ok {
		page, b = once, newFactBook() // its label sets are new ones each time
		if len(seen) > 0 {
			s.Note(plain.FirstFew(seen, 2))
		}
	}
	ofModel, err := s.chooseModel(models(page, fits[0].Table, b), fits[0].Table)
	if err != nil {
		return s, err
	}
	v := b.viewOf(page, ofModel)
	v.several = len(s.onPage) > 1
	first := v.by(fits[0].Table)
	if !fits[0].Table.Companion {
		s.parts = first.parts(s.At, of)
	}
	if of.replica != "" {
		key, err := s.narrow(of)
		if err != nil {
			return s, err
		}
		v.page = b.viewOf(v.page, func(f *facts) bool { return f.replica == key || f.place == key }).page
		first = v.by(fits[0].Table)
	}
	s.table(first, fits[0])
	for _, k := range fits[1:] {
		s.table(v.by(k.Table), k)
	}
	for _, p := range page.Samples(startTime) {
		s.started = max(s.started, p.Value)
	}
	return s, nil
}

// chooseModel sets which model of the page is read. keep leaves its series; nil leaves all.
func (s *snapshot) chooseModel(onPage []string, t *kinds.Table) (keep func(*facts) bool, err error) {
	s.onPage = onPage
	if len(onPage) == 0 {
		return nil, nil
	}
	i := slices.IndexFunc(onPage, func(m string) bool { return strings.EqualFold(m, s.model) }) // some engines change the case
	if i < 0 && len(onPage) > 1 {
		return nil, &otherModelsError{onPage}
	}
	s.Model = onPage[max(i, 0)]
	if t.ModelFrom == nil && len(onPage) == 1 {
		return nil, nil // nothing to leave out
	}
	return func(f *facts) bool { return f.model == "" || strings.EqualFold(f.model, s.Model) }, nil
}

// table reads what one table names and no table before it has set.
func (s *snapshot) table(v view, k *kinds.Kind) {
	t := k.Table
	if s.Engine == "" && !t.Companion {
		s.Engine = k.ID
	}
	s.Router = s.Router || t.Router
	s.digits = max(s.digits, t.Digits)
	for f := range t.Fields {
		switch {
		case f == engine.FieldKVFill, f == engine.FieldHitRateGauge: // fractions
		case s.Distribution(f) != nil:
			s.distribution(v, f)
		default:
			s.figure(v, f)
		}
	}
	s.kvFill(v)
	s.CountersOnFinish = s.CountersOnFinish || t.OnFinish && (s.PromptTokens.OK || s.GenerationTokens.OK)
	s.rateGauge(v)
	s.prefixUnit(t)
	s.settings(v)
	if s.Ranks == 0 {
		s.Ranks = len(v.column(engine.FieldRunning).ranks)
	}
	for _, via := range t.Via {
		if s.Via == "" && cameThrough(v, via) {
			s.Via = via.Name
		}
	}
	for _, text := range t.Notes {
		s.Note(text)
	}
}

// cameThrough reports whether a page came through a gateway or wrapper.
func cameThrough(v view, w kinds.Via) bool {
	if w.Prefix == "" && w.Label == "" {
		return w.Metric == "" || v.page.Has(w.Metric)
	}
	c := v.column(engine.FieldRunning)
	if len(c.ranks) == 0 {
		c = v.column(engine.FieldGenerationTokens)
	}
	return len(c.ranks) > 0 && (w.Prefix == "" || w.Prefix == c.prefix) && (w.Label == "" || c.ranks[0].labels[w.Label] != "")
}

// figure adds up a gauge or a counter over ranks, and keeps a counter's series. Ranks share
// the greatest model length.
func (s *snapshot) figure(v view, f engine.Field) {
	to, c, isCounter := s.Figure(f), v.column(f), s.Counter(f) != nil
	if to.OK || len(c.ranks) == 0 {
		return
	}
	if isCounter && c.partial {
		return // a sum without that rank would seem to fall, and to leap when it is back
	}
	series, greatest := make(counters, len(c.ranks)), 0.0
	for _, r := range c.ranks {
		series[r.key], greatest = r.value, max(greatest, r.value)
	}
	value := opt.Of(series.total())
	if f == engine.FieldMaxModelLen {
		value = opt.Of(greatest)
	}
	if s.Put(f, value, s.from(v, f, c.picked)); isCounter && value.OK {
		s.series[f] = series
	}
}

// rateGauge reads a fraction that the engine itself computes; -1 means none.
// Where there are counters the rate is made of them.
func (s *snapshot) rateGauge(v view) {
	c := v.column(engine.FieldHitRateGauge)
	if s.PrefixHitRate.OK || s.PrefixQueries.OK || len(c.ranks) != 1 || !isFraction(c.ranks[0].value) {
		return
	}
	s.Put(engine.FieldHitRateGauge, opt.Of(c.ranks[0].value), s.from(v, engine.FieldHitRateGauge, c.picked))
}

func isFraction(v float64) bool { return v >= 0 && v <= 1 }

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
			s.Remark(f, "in "+string(s.PrefixUnit))
		}
	}
}

// from is where a field of a table comes from.
func (s *snapshot) from(v view, f engine.Field, p picked) engine.Origin {
	return engine.Origin{Source: v.source(p), At: s.At, Remark: v.table.Remarks[f]}
}
