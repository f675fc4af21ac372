package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/opt"
	"sonde/probe/report/page"
)

// table is a section whose first column holds names, under the title. Columns are as wide
// as their widest cell.
func table(title string, figures []string, rows ...[]string) page.Section {
	s := page.Section{Title: title, Columns: []page.Column{{Title: title, Left: true}}, Rows: rows}
	for _, figure := range figures {
		s.Columns = append(s.Columns, page.Column{Title: figure})
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		c.Width = ansi.StringWidth(c.Title)
		for _, row := range rows {
			c.Width = max(c.Width, ansi.StringWidth(row[i]))
		}
		c.Width += 2
	}
	s.Columns[0].Width--
	return s
}

// sections are the page, the same for a terminal and for Markdown.
func (p *Plan) sections() []page.Section {
	all := []page.Section{p.load(), p.cache()}
	if len(p.Limits) > 0 {
		all = append(all, p.quotas())
	}
	if p.Replicas != nil {
		all = append(all, p.replicas())
	}
	if len(p.Notes) > 0 {
		all = append(all, page.Section{Title: "notes", Lines: p.Notes})
	}
	return all
}

// load shows what comes and what it needs.
func (p *Plan) load() page.Section {
	var rows [][]string
	p.eachRow(func(name string, r Request, d Demand) {
		rows = append(rows, []string{name, figure(d.RequestsPerS), figure(d.RPM), figure(opt.Of(r.InputTokens)), figure(opt.Of(r.OutputTokens)),
			figure(r.E2ES), figure(d.InputTPM), figure(d.OutputTPM), figure(d.TotalTPM), figure(d.Concurrency)})
	})
	return table("load", []string{"req/s", "RPM", "in tok", "out tok", "E2E s", "in TPM", "out TPM", "TPM", "in flight"}, rows...)
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
	s := table("KV cache", []string{"tokens", "at most", "bytes", "at most"}, rows...)
	if m := p.Model; m != nil {
		s.Lines = append(s.Lines, fmt.Sprintf("%s: %s per token, 16-bit", m.Name, sized(opt.Of(m.KVBytesPerToken))))
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
	s := table(title, []string{"quota", "used", "share", "binds at RPM"}, rows...)
	if b := p.Binding; b != nil {
		text := fmt.Sprintf("%s binds first, at %s RPM (%s req/s)", b.Limit, figure(b.RPM), figure(b.RequestsPerS))
		switch {
		case b.Fits == nil:
		case *b.Fits:
			text += ": the load fits"
		default:
			text += fmt.Sprintf(": the load does not fit, it needs %s RPM", figure(p.WithHeadroom.RPM))
		}
		s.Lines = append(s.Lines, text)
	}
	return s
}

func (p *Plan) replicas() page.Section {
	r := p.Replicas
	s := page.Section{Title: "replicas"}
	if l := r.Level; l != nil {
		s.Lines = append(s.Lines, fmt.Sprintf("each at %s (%s): %s req/s, %s in flight, E2E %s s", l.Load, l.Chosen,
			figure(l.RequestsPerS), figure(l.Concurrency), figure(l.E2EMS.Scale(0.001))))
	}
	for _, step := range r.Steps {
		s.Lines = append(s.Lines, fmt.Sprintf("%s: %s needed / %s each = %s", strings.ReplaceAll(strings.TrimSuffix(step.Of, "_per_s"), "_", " ")+"/s",
			figure(step.Asked), figure(step.PerReplica), figure(step.Ratio)))
	}
	if r.Needed == nil {
		s.Lines = append(s.Lines, "replicas unknown: "+r.Why)
		return s
	}
	s.Lines = append(s.Lines, fmt.Sprintf("%d replicas, %s utilized if the load is spread evenly", *r.Needed, percent(r.Share)))
	return s
}

// unknown stands for a figure that is not known.
const unknown = "—"

// figure writes a number with up to four significant digits: 240, 1.44M, 16.9k.
func figure(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	text, unit := scaled(f.V, 1000, []string{"", "k", "M", "G", "T", "P"})
	return text + unit
}

// sized writes bytes in the units of memory, 1 GiB = 2³⁰.
func sized(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	text, unit := scaled(f.V, 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"})
	return text + " " + unit
}

// percent writes a fraction.
func percent(f opt.Float) string {
	if !f.OK {
		return unknown
	}
	text, unit := scaled(f.V*100, 1000, []string{"", "k", "M", "G", "T", "P"})
	return text + unit + " %"
}

// scaled divides v by the step until it is below one, and rounds it to four
// significant digits.
func scaled(v, step float64, units []string) (text, unit string) {
	unit = units[0]
	for _, next := range units[1:] {
		// 999.96 would be written as 1000.
		if math.Abs(v) < step-0.05 {
			break
		}
		v, unit = v/step, next
	}
	text = strconv.FormatFloat(v, 'g', 4, 64)
	if strings.Contains(text, "e") {
		text = strconv.FormatFloat(v, 'e', 2, 64)
	}
	return text, unit
}
