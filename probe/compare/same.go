package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sonde/probe/plain"
	"sonde/probe/report"
	"sonde/probe/units"
)

// Difference is something about what was measured that is not the same on both sides, or within
// one. Work marks those that make figures answers to different questions; the others may be
// the very change that is compared.
type Difference struct {
	Kind   string   `json:"kind"`
	Work   bool     `json:"work"`
	Before []string `json:"before"` // distinct values
	After  []string `json:"after"`
}

// Says is the difference in words.
func (d *Difference) Says() string {
	return fmt.Sprintf("%s: %s before, %s after", strings.ReplaceAll(d.Kind, "_", " "), strings.Join(d.Before, " and "), strings.Join(d.After, " and "))
}

// attributes are what has to be the same.
var attributes = []struct {
	kind string
	work bool
	of   func(*Run) string
}{
	{"model", true, func(r *Run) string { return string(r.Target.Model) }},
	{"load", true, func(r *Run) string {
		if len(r.Levels) > 1 {
			return r.Levels[0].Load.Mode + " loop" // its levels are matched
		}
		return r.Levels[0].Load.Mode + " loop, " + loadOf(&r.Levels[0]).String()
	}},
	{"requested_prompt", true, func(r *Run) string {
		l := &r.Levels[0].Load
		return tokens(l.InputSpread, l.InputTokens)
	}},
	{"requested_output", true, func(r *Run) string {
		l := &r.Levels[0].Load
		return tokens(l.OutputSpread, report.Number{V: float64(l.OutputTokens), OK: true})
	}},
	{"conversations", true, func(r *Run) string {
		l := &r.Levels[0].Load
		if l.Turns < 2 {
			return "none"
		}
		return fmt.Sprintf("%d turns, think time %s s", l.Turns, units.Exact(l.ThinkS.Or(0)))
	}},
	{"arrivals", true, func(r *Run) string { return string(r.Levels[0].Load.Arrivals) }},
	{"ramp", true, func(r *Run) string {
		p := &r.Levels[0].Load.Ramp
		if !p.To.OK {
			return "none"
		}
		return fmt.Sprintf("%s to %s requests/s over %s s", units.Exact(p.From.Or(0)), units.Exact(p.To.V), units.Exact(p.OverS.Or(0)))
	}},
	{"trace", true, func(r *Run) string { return cmp.Or(string(r.Levels[0].Load.Trace.Name), "none") }},
	{"prompt_prefix", true, func(r *Run) string { return string(r.Levels[0].Load.Prefix) }},
	{"slos", true, func(r *Run) string { return strings.Join(slos(r), ", ") }},
	{"engine", false, func(r *Run) string { return strings.TrimSpace(string(r.Target.Engine + " " + r.Target.EngineVersion)) }},
	{"hardware", false, func(r *Run) string {
		var parts []string
		for _, h := range r.Target.Hardware {
			parts = append(parts, fmt.Sprintf("%d × %s", h.Count, h.Name))
		}
		return strings.Join(parts, ", ")
	}},
	{"engine_settings", false, settings},
}

func tokens(spread report.Text, mean report.Number) string {
	switch {
	case spread != "":
		return string(spread) + " tokens"
	case !mean.OK:
		return "prompts from a file"
	}
	return units.Whole(mean.V) + " tokens"
}

func slos(r *Run) []string {
	if r.SLO != nil {
		return r.SLO
	}
	return r.Levels[0].SLOTexts()
}

// settings are those of the engine that it reports.
func settings(r *Run) string {
	s := &r.Target.Settings
	out := slices.Clone(s.About)
	for _, f := range []struct {
		name string
		v    report.Number
	}{{"context", s.MaxModelLen}, {"running at most", s.MaxRunning}, {"KV tokens", s.KVCapacityTokens}, {"KV blocks", s.KVCapacityBlocks}, {"ranks", s.Ranks}} {
		if f.v.OK {
			out = append(out, f.name+" "+units.Whole(f.v.V))
		}
	}
	return strings.Join(out, ", ")
}

// differences are those between the runs; same reports whether all did the same work.
func differences(a Ask) (out []Difference, same bool) {
	out, same = []Difference{}, true
	for _, at := range attributes {
		before, after := distinct(a.Before, at.of), distinct(a.After, at.of)
		if len(before) == 1 && slices.Equal(before, after) {
			continue
		}
		out = append(out, Difference{at.kind, at.work, before, after})
		same = same && !at.work
	}
	for _, d := range measuredLengths(a) {
		out, same = append(out, d), false
	}
	return out, same
}

// distinct are the values of the runs, each once. One that no run reports is "unknown".
func distinct(runs []Run, of func(*Run) string) []string {
	var out []string
	for i := range runs {
		v := of(&runs[i])
		if v == "" {
			v = "unknown"
		}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// lengthsDiffer is by how much the mean lengths of prompts or answers may differ.
const lengthsDiffer = 0.02

// measuredLengths are the counted lengths that differ although the same ones were requested. Of lengths that
// scatter each run draws its own: there it counts how far the server keeps to what was drawn.
func measuredLengths(a Ask) []Difference {
	var out []Difference
	for _, m := range []struct {
		kind      string
		of, drawn func(*report.Level) report.Number
	}{
		{"measured_prompt", func(l *report.Level) report.Number { return l.Lengths.Input.Mean },
			func(l *report.Level) report.Number { return l.Lengths.RequestedInput.Mean }},
		{"measured_output", func(l *report.Level) report.Number { return l.Lengths.Output.Mean },
			func(l *report.Level) report.Number { return l.Lengths.RequestedOutput.Mean }},
	} {
		before, after := meanLength(a.Before, m.of), meanLength(a.After, m.of)
		change := after / before
		if b, a := meanLength(a.Before, m.drawn), meanLength(a.After, m.drawn); b > 0 && a > 0 {
			change *= b / a
		}
		if before > 0 && after > 0 && math.Abs(change-1) > lengthsDiffer {
			text := func(v float64) []string { return []string{units.Tenth(v) + " tokens"} }
			out = append(out, Difference{m.kind, true, text(before), text(after)})
		}
	}
	return out
}

// meanLength is the mean over runs and levels; 0 if none knows.
func meanLength(runs []Run, of func(*report.Level) report.Number) float64 {
	sum, n := 0.0, 0.0
	for i := range runs {
		for k := range runs[i].Levels {
			if v := of(&runs[i].Levels[k]); v.OK {
				sum, n = sum+v.V, n+1
			}
		}
	}
	return sum / max(n, 1)
}

// Doubt is why the figures of one run may not be what they seem.
type Doubt struct {
	Run  string `json:"run"`
	Kind string `json:"kind"` // "interrupted", "ended_early", "client_limited", "not_settled", "stopped", "no_success"
	Load string `json:"load"` // "" is the whole run
	Says string `json:"says"`
}

func doubts(a Ask) []Doubt {
	out := []Doubt{}
	for _, r := range slices.Concat(a.Before, a.After) {
		switch {
		case r.Interrupted:
			out = append(out, Doubt{r.Name, "interrupted", "", "was interrupted"})
		case r.EndedEarly != "":
			out = append(out, Doubt{r.Name, "ended_early", "", "ended early: " + string(r.EndedEarly)})
		}
		for i := range r.Levels {
			l := &r.Levels[i]
			where := ""
			if len(r.Levels) > 1 {
				where = loadOf(l).String()
			}
			add := func(applies bool, kind, says string) {
				if applies {
					out = append(out, Doubt{r.Name, kind, where, says})
				}
			}
			add(l.Requests.OK == 0, "no_success", "no request succeeded")
			add(l.Client.Bottleneck, "client_limited", "the client was the bottleneck: its figures are about the client")
			add(l.Requests.Excluded > 0, "stopped", fmt.Sprintf("lost %d of %d requests because the client was stopped while they ran", l.Requests.Excluded, l.Requests.Sent))
			add(!l.Settled, "not_settled", "had not settled")
		}
	}
	return out
}

// fewDoubted is how many places a doubt names.
const fewDoubted = 3

// doubtTexts are the doubts in one line each, with the runs and loads that they are about.
func (c *Comparison) doubtTexts() []string {
	var says []string
	places := map[string][]string{}
	for i := range c.Doubts {
		d := &c.Doubts[i]
		place := d.Run
		if d.Load != "" {
			place += " at " + d.Load
		}
		if places[d.Says] == nil {
			says = append(says, d.Says)
		}
		places[d.Says] = append(places[d.Says], place)
	}
	for i, what := range says {
		says[i] = plain.FirstFew(places[what], fewDoubted) + " " + what
	}
	return says
}

// Unlike is why figures of two runs answer different questions, apart from the amounts of their
// loads, which both may change, and their SLOs. What is unknown of either differs from nothing.
func Unlike(before, after Run) []Difference {
	if len(before.Levels) == 0 || len(after.Levels) == 0 {
		return nil
	}
	var out []Difference
	for _, at := range attributes {
		if !at.work || at.kind == "load" || at.kind == "ramp" || at.kind == "slos" {
			continue
		}
		if a, b := at.of(&before), at.of(&after); a != "" && b != "" && a != b {
			out = append(out, Difference{at.kind, true, []string{a}, []string{b}})
		}
	}
	return out
}
