package merge

import (
	"fmt"
	"slices"
	"strings"

	"sonde/probe/report"
	"sonde/probe/units"
)

// differences are why the parts are not of one test, the gravest first.
func differences(parts []Part) []string {
	var out []string
	for _, f := range []struct {
		name string
		of   func(*report.Summary) string
	}{
		{"model", func(s *report.Summary) string { return string(s.Target.Model) }},
		{"engine", func(s *report.Summary) string { return string(s.Target.Engine) }},
		{"loop", func(s *report.Summary) string { return s.Load.Mode }},
		{"arrivals", func(s *report.Summary) string { return string(s.Load.Arrivals) }},
		{"prompt", func(s *report.Summary) string { return s.Load.Prompt() }},
		{"output", func(s *report.Summary) string { return s.Load.Answer() }},
		{"prefix", func(s *report.Summary) string { return string(s.Load.Prefix) }},
		{"number of turns", func(s *report.Summary) string { return fmt.Sprint(max(1, s.Load.Turns)) }},
		{"think time", func(s *report.Summary) string { return units.Exact(s.Load.ThinkS.Or(0)) + " s" }},
		{"ramp time", func(s *report.Summary) string { return units.Exact(s.Load.Ramp.OverS.Or(0)) + " s" }},
		{"trace", func(s *report.Summary) string { return string(s.Load.Trace.Name) }},
		{"SLO list", slos},
	} {
		first := f.of(&parts[0].Summary)
		for i := range parts[1:] {
			p := &parts[1+i]
			if v := f.of(&p.Summary); v != first {
				out = append(out, fmt.Sprintf("%s is %s in %s and %s in %s", f.name, orNone(first), parts[0].Name, orNone(v), p.Name))
				break
			}
		}
	}
	if twice := same(parts); twice != "" {
		out = append(out, twice)
	}
	if common, _, _ := together(parts); common <= 0 {
		out = append(out, "they did not run at the same time, by the clocks of the clients, so that their rates never added up")
	}
	return out
}

func orNone(v string) string {
	if v == "" {
		return "unknown"
	}
	return strings.TrimSpace(v)
}

func slos(s *report.Summary) string {
	out := s.SLOTexts()
	slices.Sort(out)
	return strings.Join(out, ",")
}

// same finds a run that is there twice.
func same(parts []Part) string {
	for i := range parts {
		for k := range parts[:i] {
			if a, b := &parts[i], &parts[k]; a.Is(&b.Run) {
				return b.Name + " and " + a.Name + " are the same run"
			}
		}
	}
	return ""
}
