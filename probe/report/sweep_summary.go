package report

import (
	"slices"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/sweep"
)

// SweepSummary is the outcome of a ladder of loads.
type SweepSummary struct {
	Run
	Levels   []Level      `json:"levels"`
	Others   []Level      `json:"other_levels"` // not of the curve: other lengths, prefixes, another loop
	Capacity *Capacity    `json:"capacity"`     // the level that the conclusion is read from; null if there is none
	Knee     *KneeFigures `json:"knee"`
	NoKnee   Text         `json:"no_knee"` // why there is no knee
	Best     *BestFigures `json:"best_within_slo"`
	SLO      []string     `json:"slo"`
	Notes    []string     `json:"notes"`
	Verdict  []Verdict    `json:"verdict"`

	boundary string // what the sweep concluded about the SLOs, in words
	picture  string // file with the curve, beside the report; "" if there is none
}

// Level is the Summary of one load of a sweep. Its figures are of the requests that began
// and ended at that load after it had settled; of all at that load, if it had not.
type Level struct {
	Summary
	Settled       bool   `json:"settled"`
	Visits        int    `json:"visits"`
	SLOVerdict    Text   `json:"slo_verdict"`    // "meets", "seems to meet", "seems to fail", "fails"
	SLOConfidence Number `json:"slo_confidence"` // of the least sure SLO
	SlowestPerS   Number `json:"output_tokens_per_s_slowest"`
	FastestPerS   Number `json:"output_tokens_per_s_fastest"`

	Requested frame.Load `json:"-"`
	verdict   slo.Verdict
}

// KneeFigures say where more load stops paying.
type KneeFigures struct {
	Mark
	Below     Mark     `json:"below"` // the next levels on both sides: the knee lies between them
	Above     Mark     `json:"above"`
	GainBelow Number   `json:"output_tokens_per_s_gained_before"` // for each stream, or request/s, added
	GainAbove Number   `json:"output_tokens_per_s_gained_beyond"`
	Exhausted Text     `json:"exhausted"`
	Says      string   `json:"says"`
	Evidence  []string `json:"evidence"`
}

// BestFigures are of the largest load that meets all SLOs.
type BestFigures struct {
	Mark
	Verdict    Text   `json:"slo_verdict"`
	Confidence Number `json:"slo_confidence"`
	Rates
	GoodputPerS Number `json:"goodput_per_s"`
	Above       *Mark  `json:"above"` // the next larger load that was measured, which does not
	Says        string `json:"says"`
}

// NewSweep puts the outcome of a ladder of loads into the form of the files.
func NewSweep(o *bench.SweepOutcome) SweepSummary {
	s := SweepSummary{
		Run:    Run{Schema: Schema, DurationS: Rounded(opt.Of(o.Lasted.Seconds())), Interrupted: o.Interrupted, EndedEarly: Text(o.Status.Why), Seed: o.Plan.Seed},
		Levels: levelsOf(o.Levels), Others: levelsOf(o.Others), SLO: []string{}, NoKnee: Text(o.Result.NoKnee),
	}
	if o.Interrupted {
		s.EndedEarly = "interrupted"
	}
	for i := range o.Plan.SLOs {
		s.SLO = append(s.SLO, o.Plan.SLOs[i].Text)
	}
	sources := &o.None.Level.Sources
	if n := len(s.Levels); n > 0 {
		s.Target, s.Load = s.Levels[n-1].Target, s.Levels[0].Load
	} else { // interrupted before anything was measured: what was requested
		s.Target, s.Load = targetOf(&o.None.Level), loadOf(o.None.Level.Load, o.Plan.Prefix)
	}
	if started := sources.Target.Started; !started.IsZero() && (o.Began > 0 || o.Lasted > 0) {
		s.Started = Instant{started.Add(o.Began)}
	}
	if o.Result.Knee != nil {
		s.Knee = kneeFigures(o.Result.Knee)
	}
	if b := o.Result.Boundary; b != nil {
		s.boundary = b.String()
		if b.Best != nil {
			s.Best = s.bestFigures(b)
		}
	}
	s.Capacity = s.capacity()
	s.Verdict = s.verdicts()
	s.Notes = s.levelNotes()
	return s
}

func levelsOf(list []bench.Outcome) []Level {
	out := make([]Level, 0, len(list))
	for i := range list {
		l := &list[i].Level
		out = append(out, Level{
			Summary: New(&list[i]), Settled: l.Settled, Visits: l.Visits, SLOVerdict: Text(l.Verdict().String()),
			SLOConfidence: RoundedShare(l.Confidence()), SlowestPerS: Rounded(l.SlowestPerS), FastestPerS: Rounded(l.FastestPerS),
			Requested: l.Load, verdict: l.Verdict(),
		})
	}
	return out
}

// maxNotes bounds the distinct notes that are kept.
const maxNotes = 20

// levelNotes are the notes of all levels; one that several have is kept once, with the first.
func (s *SweepSummary) levelNotes() []string {
	out := []string{}
	seen := map[string]bool{}
	for i := range s.Levels {
		for _, note := range s.Levels[i].Notes {
			if !seen[note] && len(out) < maxNotes {
				out = append(out, "at "+sweep.Describe(s.Levels[i].Requested)+": "+note)
			}
			seen[note] = true
		}
	}
	return out
}

// errors are those of all levels together, most frequent first.
func (s *SweepSummary) errors() []ErrorCount {
	var all level.Errors
	for i := range s.Levels {
		for _, e := range s.Levels[i].Errors {
			all.Add(e.Class, e.Message, e.Count)
		}
	}
	return all.List()
}

func markOf(l *level.Level) Mark { return loadOf(l.Load, "").Mark }

func kneeFigures(k *sweep.Knee) *KneeFigures {
	return &KneeFigures{
		Mark: markOf(&k.At), Below: markOf(&k.Below), Above: markOf(&k.Above),
		GainBelow: Rounded(opt.Of(k.GainBelow)), GainAbove: Rounded(opt.Of(k.GainAbove)),
		Exhausted: Text(k.Limit.Resource), Says: k.String(), Evidence: k.Evidence(),
	}
}

func (s *SweepSummary) bestFigures(b *sweep.Boundary) *BestFigures {
	f := &BestFigures{Mark: markOf(b.Best), Verdict: Text(b.Best.Verdict().String()), Confidence: RoundedShare(b.Best.Confidence()), Says: b.String()}
	if b.Above != nil {
		m := markOf(b.Above)
		f.Above = &m
	}
	if l := s.At(f.Mark); l != nil {
		f.Rates, f.GoodputPerS = l.Rates, l.GoodputPerS
	}
	return f
}

// At finds a marked level; nil if there is none.
func (s *SweepSummary) At(m Mark) *Level {
	for i := range s.Levels {
		if l := &s.Levels[i]; l.Load.Mark == m {
			return l
		}
	}
	return nil
}

// Verdicts on the curve as a whole.
const (
	ruleKnee   = "knee"
	ruleNoKnee = "no_knee"
)

// verdicts are the conclusions of the sweep as a whole.
func (s *SweepSummary) verdicts() []Verdict {
	out := []Verdict{}
	if len(s.SLO) > 0 {
		rule := "slo_boundary"
		if s.Best == nil {
			rule = "slo"
		}
		out = append(out, Verdict{Rule: rule, Says: s.boundary, Evidence: []string{}})
	}
	if s.Knee != nil {
		out = append(out, Verdict{Rule: ruleKnee, Says: s.Knee.Says, Evidence: s.Knee.Evidence})
	} else {
		out = append(out, Verdict{Rule: ruleNoKnee, Says: "no knee: " + string(s.NoKnee), Evidence: []string{}})
	}
	return append(out, s.levelVerdicts()...)
}

// levelVerdicts are the strongest findings at the level that capacity is read from, and at
// the largest load.
func (s *SweepSummary) levelVerdicts() []Verdict {
	var out []Verdict
	chosen, _ := s.conclusive()
	for i := range s.Levels {
		l := &s.Levels[i]
		if l != chosen && i < len(s.Levels)-1 || len(l.Verdict) == 0 {
			continue
		}
		v := l.Verdict[0]
		v.Says = "at " + sweep.Describe(l.Requested) + ": " + v.Says
		out = append(out, v)
	}
	return out
}

// ExitCode is the code for the process to end with: 0 done, 1 nothing succeeded or no
// load meets the SLOs, 130 interrupted.
func (s SweepSummary) ExitCode() int {
	ok := 0
	for i := range s.Levels {
		ok += s.Levels[i].Requests.OK
	}
	switch {
	case s.Interrupted:
		return 130
	case ok == 0, len(s.SLO) > 0 && s.Best == nil:
		return 1
	}
	return 0
}

// CSV is a heading and a row for each level, without the Distributions.
func (s SweepSummary) CSV() (string, error) {
	rows := slices.Clone(s.Levels)
	for i := range rows {
		rows[i].Distributions = nil
	}
	return CSV(rows)
}
