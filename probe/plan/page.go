package plan

import (
	"fmt"
	"strings"

	"sonde/probe/opt"
)

// section is a part of the page for people: a table, or lines.
type section struct {
	title  string
	header []string // of the figures; the first column holds names
	rows   [][]string
	lines  []string
}

// sections are the page, the same for a terminal and for Markdown.
func (p *Plan) sections() []section {
	all := []section{p.load(), p.cache()}
	if len(p.Limits) > 0 {
		all = append(all, p.quotas())
	}
	if p.Replicas != nil {
		all = append(all, p.replicas())
	}
	if len(p.Notes) > 0 {
		all = append(all, section{title: "notes", lines: p.Notes})
	}
	return all
}

// load tells what comes and what it asks for.
func (p *Plan) load() section {
	s := section{title: "load", header: []string{"req/s", "RPM", "in tok", "out tok", "E2E s", "in TPM", "out TPM", "TPM", "in flight"}}
	add := func(name string, in, out string, e2e opt.Float, d Demand) {
		s.rows = append(s.rows, []string{name, figure(d.RequestsPerS), figure(d.RPM), in, out, figure(e2e),
			figure(d.InputTPM), figure(d.OutputTPM), figure(d.TotalTPM), figure(d.Concurrency)})
	}
	p.eachRow(func(name string, r Request, d Demand) {
		add(name, figure(opt.Of(r.InputTokens)), figure(opt.Of(r.OutputTokens)), r.E2ES, d)
	})
	return s
}

// eachRow visits the workloads, their total if they are several, and the load
// with its head-room if there is any.
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

// cache tells what the requests in flight hold in the KV cache.
func (p *Plan) cache() section {
	s := section{title: "KV cache", header: []string{"tokens", "at most", "bytes", "at most"}}
	p.eachRow(func(name string, _ Request, d Demand) {
		s.rows = append(s.rows, []string{name, figure(d.KVTokens), figure(d.KVTokensMost), sized(d.KVBytes), sized(d.KVBytesMost)})
	})
	if m := p.Model; m != nil {
		s.lines = append(s.lines, fmt.Sprintf("%s: %s a token, 16-bit", m.Name, sized(opt.Of(m.KVBytesPerToken))))
	}
	return s
}

func (p *Plan) quotas() section {
	title := "limits"
	if p.Headroom > 0 {
		title += ", with head-room"
	}
	s := section{title: title, header: []string{"quota", "used", "share", "binds at RPM"}}
	for _, l := range p.Limits {
		name := l.Limit
		if p.Binding != nil && p.Binding.Limit == l.Limit {
			name += " (first)"
		}
		s.rows = append(s.rows, []string{name, figure(opt.Of(l.Quota)), figure(l.Used), percent(l.Share), figure(l.MaxRPM)})
	}
	if b := p.Binding; b != nil {
		text := fmt.Sprintf("%s binds first, at %s RPM (%s req/s)", b.Limit, figure(b.RPM), figure(b.RequestsPerS))
		switch {
		case b.Fits == nil:
		case *b.Fits:
			text += ": the load fits"
		default:
			text += fmt.Sprintf(": the load does not fit, it asks for %s RPM", figure(p.WithHeadroom.RPM))
		}
		s.lines = append(s.lines, text)
	}
	return s
}

func (p *Plan) replicas() section {
	r := p.Replicas
	s := section{title: "replicas"}
	if l := r.Level; l != nil {
		s.lines = append(s.lines, fmt.Sprintf("each at %s (%s): %s req/s, %s in flight, E2E %s s", l.Load, l.Chosen,
			figure(l.RequestsPerS), figure(l.Concurrency), figure(l.E2EMS.Scale(0.001))))
	}
	for _, step := range r.Steps {
		s.lines = append(s.lines, fmt.Sprintf("%s: %s asked / %s each = %s", strings.ReplaceAll(strings.TrimSuffix(step.Of, "_per_s"), "_", " ")+"/s",
			figure(step.Asked), figure(step.PerReplica), figure(step.Ratio)))
	}
	if r.Needed == nil {
		s.lines = append(s.lines, "replicas unknown: "+r.Why)
		return s
	}
	s.lines = append(s.lines, fmt.Sprintf("%d replicas, %s of them in use, if the load is spread evenly", *r.Needed, percent(r.Share)))
	return s
}
