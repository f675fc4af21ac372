package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/ui/chart"
)

// gpuPanel draws SM activity and the share of the memory bandwidth: of one device
// as a chart, of several a row each above the chart of their mean. Zoomed, it is a
// table with all there is to know.
type gpuPanel struct{ theme *theme }

func (g *gpuPanel) heading(p *picture) heading {
	t, f := g.theme, p.frame
	gpus := f.GPU.GPUs
	hd := heading{name: gpuName(gpus), column: p.history.width}
	if len(gpus) == 0 {
		hd.figures = []figure{{unknown, t.dim}}
		return hd
	}
	all := overGPUs(gpus)
	hd.figures = gpuFigures(t, all)
	hd.spare = len(hd.figures) - 2 // power stays, what goes is the bandwidth
	hd.foot = g.foot(f)
	return hd
}

// foot is what is true now and then: readings that are old, devices that are lost,
// or else what is to be said about all of them alike.
func (g *gpuPanel) foot(f *frame.Frame) []figure {
	t, gpus := g.theme, f.GPU.GPUs
	if note := gpuAgeNote(f); note != "" {
		return []figure{{note, t.warn}, {clean(f.GPU.Why), t.dim}}
	}
	if lost := lostNumbers(gpus); lost != "" {
		text := "▲ GPU " + lost + " lost"
		if !strings.Contains(lost, ",") {
			text = "▲ GPU " + lost + lostReason(gpus)
		}
		return []figure{{text, t.bad}}
	}
	if scope := clean(f.GPU.Scope); scope != "" {
		return []figure{{scope, t.note}}
	}
	note := gpuNote(&gpus[0])
	for i := range gpus {
		if gpuNote(&gpus[i]) != note {
			return nil
		}
	}
	if note == "" {
		return nil
	}
	return []figure{{note, t.dim}}
}

// lostReason is what follows the number of a lost device: " lost (code 15): reset it".
func lostReason(gpus []gpu.Reading) string {
	for i := range gpus {
		if gpus[i].Lost {
			note := clean(gpus[i].Note)
			if rest, ok := strings.CutPrefix(note, "GPU lost"); ok {
				return " lost" + rest
			}
			return ": " + note
		}
	}
	return ""
}

// gpuFigures are mean and busiest SM activity, bandwidth and power. Of one device
// the busiest is itself.
func gpuFigures(t *theme, all gpuTotals) []figure {
	memory := figure{"DRAM " + right(gpuPercent(all.dram), 5), t.second}
	power := figure{powerText(all), t.plain}
	if all.devices == 1 {
		return []figure{smFigure(t, all), memory, power}
	}
	sm := figure{"SM " + gpuPercent(all.sm) + " max " + gpuPercent(all.smMost), t.first}
	if !all.sm.OK && all.busy.OK {
		sm = figure{"busy " + gpuPercent(all.busy) + " max " + gpuPercent(all.busyMost), t.dim}
	}
	return []figure{sm, {"DRAM " + gpuPercent(all.dram), t.second}, power}
}

// smFigure falls back to the coarse utilisation, under its own name: any kernel,
// however small, makes a GPU busy.
func smFigure(t *theme, all gpuTotals) figure {
	if !all.sm.OK && all.busy.OK {
		return figure{"busy " + right(gpuPercent(all.busy), 5), t.dim}
	}
	return figure{"SM " + right(gpuPercent(all.sm), 5), t.first}
}

// powerText says of how many devices the sum is when some do not tell.
func powerText(all gpuTotals) string {
	switch {
	case all.powered == 0:
		return unknown + " W"
	case all.powered < all.wholes:
		return fmt.Sprintf("%s W (%d of %d)", group(all.power.V), all.powered, all.wholes)
	}
	return right(group(all.power.V), 3) + " W"
}

// gpuName counts whole devices, and parts of them apart.
func gpuName(gpus []gpu.Reading) string {
	wholes := wholeGPUs(gpus)
	name := "GPU"
	switch {
	case len(gpus) == 0:
		return name
	case wholes == 1 && gpus[0].Parent == "":
		name = "GPU " + strconv.Itoa(gpus[0].Index)
	case wholes > 0:
		name = "GPU ×" + strconv.Itoa(wholes)
	}
	if parts := len(gpus) - wholes; parts > 0 {
		name += " MIG ×" + strconv.Itoa(parts)
	}
	return name
}

func wholeGPUs(gpus []gpu.Reading) int {
	n := 0
	for i := range gpus {
		if gpus[i].Parent == "" {
			n++
		}
	}
	return n
}

// gpuKey is what the body depends on.
type gpuKey struct {
	columns, n int
	at         time.Time
	why        string
	age        int // seconds, where it is shown
}

func (g *gpuPanel) key(p *picture, zoomed bool) any {
	s := &p.frame.GPU
	k := gpuKey{p.history.version.columns, len(s.GPUs), s.At, s.Why, 0}
	if age, ok := gpuAge(p.frame); ok && zoomed {
		k.age = int(age.Seconds())
	}
	return k
}

func (g *gpuPanel) body(p *picture, w, h int) []string {
	gpus := p.frame.GPU.GPUs
	switch {
	case len(gpus) == 0:
		return g.theme.because(whyNoGPU(p), w, h)
	case len(gpus) == 1:
		return g.lines(p, w, h)
	}
	rows := g.rows(gpus, w, h)
	if rows == nil {
		return g.cells(gpus, w, h)
	}
	if rest := h - len(rows); rest >= gpuChartLeast {
		rows = append(rows, g.lines(p, w, rest)...)
	}
	return chart.Fit(rows, w, h)
}

// lines is the chart of the means over all devices; of busy time where no device
// tells its SM activity.
func (g *gpuPanel) lines(p *picture, w, h int) []string {
	t := g.theme
	scale := chart.Scale{Min: 0, Max: 1}
	plot := chart.PlotWidth(w, percentLabel, scale, h)
	shown := p.history.last(plot)
	return chart.Lines(w, h, chart.LineOptions{
		Scale: scale, Label: percentLabel, LabelStyle: t.border,
		Marks: marks(shown, plot), MarkStyle: t.mark, ASCII: t.ascii,
	}, chart.Series{Style: t.dim, Mark: '.', Y: columnLine(shown, plot, busyTime)},
		chart.Series{Style: t.second, Mark: '+', Y: columnLine(shown, plot, dram)},
		chart.Series{Style: t.first, Mark: 'o', Y: columnLine(shown, plot, sm)})
}

func sm(c *column) float64       { return c.sm.value() }
func dram(c *column) float64     { return c.dram.value() }
func busyTime(c *column) float64 { return c.busy.value() }

func whyNoGPU(p *picture) string {
	switch {
	case p.frame.GPU.Why != "":
		return p.frame.GPU.Why
	case !p.have:
		return "waiting for the first Frame"
	}
	return "no GPU readings yet"
}

// shortGPUName drops the maker and the kind of memory: "H100 80GB".
func shortGPUName(s string) string {
	s = strings.TrimPrefix(clean(s), "NVIDIA ")
	before, after, cut := strings.Cut(s, " HBM")
	if _, part, isPart := strings.Cut(after, " MIG "); cut && isPart {
		return before + " MIG " + part
	}
	return before
}

func (g *gpuPanel) explain(p *picture) explanation {
	s := &p.frame.GPU
	source := clean(s.Source)
	if source == "" {
		source = "none"
	}
	e := explanation{
		title: "GPU: SM activity and memory bandwidth",
		text: []string{
			"SM: the share of time in which a streaming multiprocessor had at least one warp, averaged over all of them. It is not the \"utilisation\" of nvidia-smi, which is full as soon as any kernel runs; where only that is known it is called busy (b).",
			"DRAM: the share of the peak memory bandwidth in use. Decoding small batches is bound by it, prefill by the SMs. Memory busy time is not it.",
			"With several devices there is a row for each; the chart shows the mean, the title the mean, the busiest SM activity and the sum of power. Zoom has everything.",
		},
		source: source,
	}
	if age, ok := gpuAge(p.frame); ok {
		e.now = []string{"age " + span(age)}
	}
	if s.Period > 0 {
		e.now = append(e.now, "interval new values every "+span(s.Period))
	}
	if s.Why != "" {
		e.now = append(e.now, "why "+clean(s.Why))
	}
	e.now = append(e.now, fieldsNow(s.GPUs)...)
	return e
}
