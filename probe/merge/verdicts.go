package merge

import (
	"slices"

	"sonde/probe/diagnose"
	"sonde/probe/report"
)

// verdicts are the SLOs that all together missed, then one verdict for each rule that any client
// found; what the others found by the same rule is among its evidence. A client that was well says
// nothing where another was not.
func (m *merger) verdicts() {
	out := []report.Verdict{}
	for i := range m.out.SLO {
		if r := &m.out.SLO[i]; r.Met != nil && !*r.Met {
			out = append(out, r.Missed())
		}
	}
	var rules []string
	for i := range m.parts {
		for _, v := range m.parts[i].Verdict {
			if !slices.Contains(rules, v.Rule) {
				rules = append(rules, v.Rule)
			}
		}
	}
	for _, rule := range rules {
		if rule != string(diagnose.RuleSLO) && rule != string(diagnose.RuleHealthy) {
			out = append(out, m.found(rule))
		}
	}
	if len(out) == 0 && slices.Contains(rules, string(diagnose.RuleHealthy)) {
		out = append(out, m.found(string(diagnose.RuleHealthy)))
	}
	m.out.Verdict = out
}

// found joins what the clients found by one rule.
func (m *merger) found(rule string) report.Verdict {
	of := func(p *Part) []string {
		var says []string
		for _, v := range p.Verdict {
			if v.Rule == rule {
				says = append(says, v.Says)
			}
		}
		return says
	}
	all := m.distinct(of)
	v := report.Verdict{Rule: rule, Says: all[0].text(len(m.parts)), Evidence: []string{}}
	for i := range m.parts {
		for _, own := range m.parts[i].Verdict {
			if own.Rule == rule && own.Says == all[0].what && len(v.Evidence) == 0 {
				v.Evidence = append(v.Evidence, own.Evidence...)
			}
		}
	}
	for _, s := range all[1:] {
		v.Evidence = append(v.Evidence, s.text(len(m.parts)))
	}
	return v
}
