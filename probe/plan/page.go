package plan

import (
	"fmt"
	"slices"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/report/page"
	"sonde/probe/units"
)

// CSV has a row for each workload, for the total, and for the load with its headroom; columns
// have the names of the JSON.
func (p Plan) CSV() (string, error) {
	return report.CSV(append(slices.Clone(p.Workloads), p.Total, Row{Name: "with_headroom", Request: p.Total.Request, Demand: p.WithHeadroom}))
}

// Text is the Plan for people.
func (p Plan) Text(width int, color bool) string {
	t := page.Text{Width: width, Color: color}
	for _, s := range p.sections() {
		t.Section(s)
	}
	return strings.TrimPrefix(t.String(), "\n")
}

// Markdown is the Plan as a report.
func (p Plan) Markdown() string {
	var m page.Markdown
	m.Linef("## sonde plan")
	for _, s := range p.sections() {
		m.Section(s)
	}
	return m.String()
}

// remark is a line under a table.
func remark(format string, args ...any) page.Item {
	return page.Item{Mark: "  ", Text: fmt.Sprintf(format, args...)}
}

// sections are the page, the same for a terminal and for Markdown.
func (p *Plan) sections() []page.Section {
	notes := page.Section{Title: "notes"}
	for _, n := range p.Notes {
		notes.Items = append(notes.Items, remark("%s", n))
	}
	return []page.Section{p.load(), p.cache(), p.quotas(), p.replicas(), notes}
}

// load shows what comes and what it needs.
func (p *Plan) load() page.Section {
	var rows [][]string
	p.eachRow(func(name string, r Request, d Demand) {
		rows = append(rows, []string{name, figure(d.RequestsPerS), figure(d.RPM), figure(opt.Of(r.InputTokens)), figure(opt.Of(r.OutputTokens)),
			figure(r.E2ES), figure(d.InputTPM), figure(d.OutputTPM), figure(d.TotalTPM), figure(d.Concurrency)})
	})
	return page.Table("load", []string{"req/s", "RPM", "in tok", "out tok", "E2E s", "in TPM", "out TPM", "TPM", "in flight"}, rows...)
}

// eachRow visits the workloads, their total if they are several, and the load
// with its headroom if there is any.
func (p *Plan) eachRow(visit func(string, Request, Demand)) {
	for _, w := range p.Workloads {
		visit(w.Name, w.Request, w.Demand)
	}
	if len(p.Workloads) > 1 {
		visit("total", p.Total.Request, p.Total.Demand)
	}
	if p.Headroom > 0 {
		visit("+ "+percent(opt.Of(p.Headroom)), p.Total.Request, p.WithHeadroom)
	}
}

// cache shows what the requests in flight hold in the KV cache.
func (p *Plan) cache() page.Section {
	var rows [][]string
	p.eachRow(func(name string, _ Request, d Demand) {
		rows = append(rows, []string{name, figure(d.KVTokens), figure(d.KVTokensMost), sized(d.KVBytes), sized(d.KVBytesMost)})
	})
	s := page.Table("KV cache", []string{"tokens", "at most", "bytes", "at most"}, rows...)
	if m := p.Model; m != nil {
		s.Items = append(s.Items, remark("%s: %s per token, 16-bit", m.Name, sized(opt.Of(m.KVBytesPerToken))))
	}
	return s
}

func (p *Plan) quotas() page.Section {
	title := "limits"
	if p.Headroom > 0 {
		title += ", with headroom"
	}
	var rows [][]string
	for _, l := range p.Limits {
		name := l.Limit
		if p.Binding != nil && p.Binding.Limit == l.Limit {
			name += " (first)"
		}
		rows = append(rows, []string{name, figure(opt.Of(l.Quota)), figure(l.Used), percent(l.Share), figure(l.MaxRPM)})
	}
	s := page.Table(title, []string{"quota", "used", "share", "binds at RPM"}, rows...)
	if b := p.Binding; b != nil {
		text := fmt.Sprintf("%s binds first, at %s RPM (%s req/s)", b.Limit, figure(b.RPM), figure(b.RequestsPerS))
		switch {
		case b.Fits == nil:
		case *b.Fits:
			text += ": the load fits"
		default:
			text += fmt.Sprintf(": the load does not fit, it needs %s RPM", figure(p.WithHeadroom.RPM))
		}
		s.Items = append(s.Items, remark("%s", text))
	}
	return s
}

func (p *Plan) replicas() page.Section {
	r := p.Replicas
	s := page.Section{Title: "replicas"}
	if r == nil {
		return s
	}
	if l := r.Level; l != nil {
		s.Items = append(s.Items, remark("each at %s (%s): %s req/s, %s in flight, E2E %s s", l.Load, l.Chosen,
			figure(l.RequestsPerS), figure(l.Concurrency), figure(l.E2EMS.Scale(0.001))))
	}
	for _, step := range r.Steps {
		s.Items = append(s.Items, remark("%s: %s needed / %s each = %s", strings.ReplaceAll(strings.TrimSuffix(step.Of, "_per_s"), "_", " ")+"/s",
			figure(step.Asked), figure(step.PerReplica), figure(step.Ratio)))
	}
	if r.Needed == nil {
		s.Items = append(s.Items, remark("replicas unknown: %s", r.Why))
		return s
	}
	s.Items = append(s.Items, remark("%d replicas, %s utilized if the load is spread evenly", *r.Needed, percent(r.Share)))
	return s
}

// These write figures that may be unknown: 240, 1.44M, 128 KiB, 50 %.
func figure(f opt.Float) string { return units.Known(f, units.Digits4) }
func sized(f opt.Float) string  { return units.Known(f, units.Bytes) }
func percent(f opt.Float) string {
	return units.Known(f, func(share float64) string { return units.Digits4(100*share) + " %" })
}
