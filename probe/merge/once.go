package merge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/report"
	"sonde/probe/units"
)

// remark notes something about the merging.
func (m *merger) remark(format string, args ...any) {
	m.remarks = append(m.remarks, fmt.Sprintf(format, args...))
}

// agree is by how much two readings of one engine or GPU may differ: the windows of the clients
// are not quite the same.
const agree = 0.1

// engine keeps what one client read: all read the same engine, whose figures hold for the load of
// all of them together.
func (m *merger) engine() {
	chosen := -1
	for i := range m.parts {
		p := &m.parts[i]
		if !p.Engine.Seen() {
			continue
		}
		if chosen < 0 {
			chosen, m.out.Engine, m.out.Target, m.out.Roofline = i, p.Engine, p.Target, p.Roofline
			continue
		}
		m.compareEngines(&m.parts[chosen], p)
	}
	// It follows from the tokens that one client saw.
	m.out.Roofline.MFU = opt.Float{}
	if len(m.parts) > 1 && chosen >= 0 {
		m.remark("engine figures are those that %s read", m.parts[chosen].Name)
	}
	urls := map[report.Text][]string{}
	for i := range m.parts {
		urls[m.parts[i].Target.URL] = append(urls[m.parts[i].Target.URL], m.parts[i].Name)
	}
	if len(urls) > 1 {
		m.remark("the clients used %d addresses: engine figures hold for %s only, if another engine is behind the others", len(urls), m.out.Target.URL)
	}
}

func (m *merger) compareEngines(a, b *Part) {
	var off []string
	for _, f := range []struct {
		name string
		text func(float64) string
		of   func(*report.EngineFigures) opt.Float
	}{
		{"running", units.Digits4, func(e *report.EngineFigures) opt.Float { return e.RunningMean }},
		{"KV cache fill", units.Percent3, func(e *report.EngineFigures) opt.Float { return e.KVFillMean }},
		{"output tok/s", units.Digits4, func(e *report.EngineFigures) opt.Float { return e.OutputPerS }},
	} {
		if x, y := f.of(&a.Engine), f.of(&b.Engine); differ(x, y) {
			off = append(off, fmt.Sprintf("%s %s and %s", f.name, f.text(x.V), f.text(y.V)))
		}
	}
	if len(off) > 0 {
		m.remark("%s and %s read different engine figures: %s", a.Name, b.Name, strings.Join(off, ", "))
	}
}

func differ(a, b opt.Float) bool {
	return a.OK && b.OK && math.Abs(a.V-b.V) > agree*max(math.Abs(a.V), math.Abs(b.V))
}

// gpus lists every GPU once, as the first client that saw it read it.
func (m *merger) gpus() {
	all := []report.GPUFigures{}
	from := []string{}
	for i := range m.parts {
		p := &m.parts[i]
		for _, g := range p.GPUs {
			at := slices.IndexFunc(all, func(o report.GPUFigures) bool { return o.ID == g.ID })
			if at < 0 {
				all, from = append(all, g), append(from, p.Name)
			} else if o := &all[at]; differ(o.SMMean, g.SMMean) || differ(o.DRAMMean, g.DRAMMean) || differ(o.BusyMean, g.BusyMean) {
				m.remark("%s and %s read different figures of GPU %s; those of %[1]s are shown", from[at], p.Name, g.ID)
			}
		}
	}
	m.out.GPUs = all
	m.out.AverageGPUs()
	m.hardware()
}

// hardware keeps the count of a client that saw every GPU, which knows parts of a GPU (MIG) from whole ones.
// Where none did, the GPUs are counted anew.
func (m *merger) hardware() {
	t := &m.out.Target
	all := m.out.GPUs
	if len(all) == 0 {
		return
	}
	t.HardwareWhy = ""
	for i := range m.parts {
		if p := &m.parts[i]; len(p.GPUs) == len(all) {
			t.Hardware = p.Target.Hardware
			return
		}
	}
	t.Hardware = []report.Hardware{}
	for i := range all {
		at := slices.IndexFunc(t.Hardware, func(h report.Hardware) bool { return h.Name == all[i].Name })
		if at < 0 {
			at = len(t.Hardware)
			t.Hardware = append(t.Hardware, report.Hardware{Name: all[i].Name})
		}
		t.Hardware[at].Count++
	}
}

// clients keeps how each client did, and the worst of it for all.
func (m *merger) clients() {
	c := &m.out.Client
	m.out.Clients, c.Workers = nil, nil
	for i := range m.parts {
		p := &m.parts[i]
		if len(p.Clients) > 0 { // it was merged before
			m.out.Clients = append(m.out.Clients, p.Clients...)
		} else {
			m.out.Clients = append(m.out.Clients, report.ClientOf(p.Name, &p.Summary))
		}
		if p.Client.Stamps != c.Stamps {
			c.Stamps = "mixed"
		}
		c.LateMSP99, c.CPU = larger(c.LateMSP99, p.Client.LateMSP99), larger(c.CPU, p.Client.CPU)
		c.Bottleneck = c.Bottleneck || p.Client.Bottleneck
		c.Workers = append(c.Workers, p.Client.Workers...)
	}
	c.CoalescedShare = report.RoundedShare(m.weighted(func(s *report.Summary) (opt.Float, float64) {
		return s.Client.CoalescedShare, float64(s.Tokens.Output)
	}))
}

func larger(a, b opt.Float) opt.Float {
	if !a.OK || b.OK && b.V > a.V {
		return b
	}
	return a
}

// notes are those on the merging, then those of the clients, by name where not all have them.
func (m *merger) notes(reasons []string) {
	out := []string{}
	for _, r := range reasons {
		out = append(out, "merged by force: "+r)
	}
	out = append(out, m.remarks...)
	if warning := m.sameSeed(); warning != "" {
		out = append(out, warning)
	}
	for _, note := range m.distinct(func(p *Part) []string { return p.Notes }) {
		out = append(out, note.text(len(m.parts)))
	}
	m.out.Notes = out
}

// sameSeed warns of clients that sent the same prompts.
func (m *merger) sameSeed() string {
	seeds := map[uint64]string{}
	for i := range m.out.Clients {
		c := &m.out.Clients[i]
		if first, again := seeds[c.Seed]; again {
			return fmt.Sprintf("%s and %s sent the same prompts (seed %d): a prefix cache may have answered; give each client a --seed of its own, or none", first, c.Name, c.Seed)
		}
		seeds[c.Seed] = c.Name
	}
	return ""
}

// said is a text with the clients that said it.
type said struct {
	what string
	by   []string
}

// text names the clients unless all said it.
func (s *said) text(clients int) string {
	if len(s.by) == clients {
		return s.what
	}
	return strings.Join(s.by, ", ") + ": " + s.what
}

// distinct are the texts of the parts, each once.
func (m *merger) distinct(of func(*Part) []string) []said {
	var out []said
	for i := range m.parts {
		p := &m.parts[i]
		for _, what := range of(p) {
			at := slices.IndexFunc(out, func(s said) bool { return s.what == what })
			if at < 0 {
				at = len(out)
				out = append(out, said{what: what})
			}
			if !slices.Contains(out[at].by, p.Name) {
				out[at].by = append(out[at].by, p.Name)
			}
		}
	}
	return out
}
