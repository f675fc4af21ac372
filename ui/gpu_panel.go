package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sonde/probe"
	"sonde/ui/chart"
)

// gpuPanel draws SM activity and the share of the memory bandwidth: the mean
// over all devices. Zoomed, it lists every device.
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
	hd.figures = gpuFigures(t, all, len(gpus))
	hd.spare = len(hd.figures) - 2 // power stays, what goes is the bandwidth
	if note := gpuAgeNote(f); note != "" {
		hd.foot = []figure{{note, t.warn}, {clean(f.GPU.Why), t.dim}}
	} else if len(gpus) == 1 && gpus[0].Note != "" {
		hd.foot = []figure{{clean(gpus[0].Note), t.dim}}
	}
	return hd
}

// gpuFigures are mean and busiest SM activity, bandwidth and power. Of one device
// the busiest is itself.
func gpuFigures(t *theme, all gpuTotals, n int) []figure {
	memory := figure{"DRAM " + right(percent(all.dram), 5), t.second}
	if n == 1 {
		return []figure{smFigure(t, all), memory, {powerText(all, n), t.plain}}
	}
	sm := figure{"SM " + percent(all.sm) + " max " + percent(all.smMost), t.first}
	if !all.sm.OK && all.busy.OK {
		sm = figure{"busy " + percent(all.busy) + " max " + percent(all.busyMost), t.dim}
	}
	return []figure{sm, {"DRAM " + percent(all.dram), t.second}, {powerText(all, n), t.plain}}
}

// smFigure falls back to the coarse utilisation, under its own name: any kernel,
// however small, makes a GPU busy.
func smFigure(t *theme, all gpuTotals) figure {
	if !all.sm.OK && all.busy.OK {
		return figure{"busy " + right(percent(all.busy), 5), t.dim}
	}
	return figure{"SM " + right(percent(all.sm), 5), t.first}
}

// powerText says of how many devices the sum is when some do not tell.
func powerText(all gpuTotals, n int) string {
	switch {
	case all.powered == 0:
		return unknown + " W"
	case all.powered < n:
		return fmt.Sprintf("%s W (%d of %d)", group(all.power.V), all.powered, n)
	}
	return right(group(all.power.V), 3) + " W"
}

func gpuName(gpus []probe.GPUReading) string {
	switch len(gpus) {
	case 0:
		return "GPU"
	case 1:
		return "GPU " + strconv.Itoa(gpus[0].Index)
	}
	return "GPU ×" + strconv.Itoa(len(gpus))
}

// gpuKey is what the body depends on.
type gpuKey struct {
	columns, n int
	at         time.Time
	why        string
}

func (g *gpuPanel) key(p *picture, _ bool) any {
	s := &p.frame.GPU
	return gpuKey{p.history.version.columns, len(s.GPUs), s.At, s.Why}
}

func (g *gpuPanel) body(p *picture, w, h int) []string {
	if len(p.frame.GPU.GPUs) == 0 {
		return g.theme.because(whyNoGPU(p), w, h)
	}
	t := g.theme
	scale := chart.Scale{Min: 0, Max: 1}
	plot := chart.PlotWidth(w, percentLabel, scale, h)
	shown := p.history.last(plot)
	return chart.Lines(w, h, chart.LineOptions{
		Scale: scale, Label: percentLabel, LabelStyle: t.border,
		Marks: marks(shown, plot), MarkStyle: t.mark, ASCII: t.ascii,
	}, chart.Series{Style: t.second, Mark: '+', Y: columnLine(shown, plot, dram)},
		chart.Series{Style: t.first, Mark: 'o', Y: columnLine(shown, plot, sm)})
}

func sm(c *column) float64   { return c.sm.value() }
func dram(c *column) float64 { return c.dram.value() }

func whyNoGPU(p *picture) string {
	switch {
	case p.frame.GPU.Why != "":
		return p.frame.GPU.Why
	case !p.have:
		return "waiting for the first Frame"
	}
	return "no GPU readings yet"
}

// zoomed lists all devices, as many as there is room for, above the chart.
func (g *gpuPanel) zoomed(p *picture, w, h int) []string {
	gpus := p.frame.GPU.GPUs
	if len(gpus) == 0 {
		return g.body(p, w, h)
	}
	lines := []string{g.theme.dim.Render(gpuRow(w, "device", "#", "SM", "DRAM", "power W", "memory GiB", "°C", "MHz"))}
	for i := range gpus {
		lines = append(lines, g.device(&gpus[i], w))
	}
	if rest := h - len(lines); rest >= 4 {
		lines = append(lines, g.body(p, w, rest)...)
	}
	return chart.Fit(lines, w, h)
}

// gpuWidths are the columns of a device's row: number, SM, DRAM, power, memory,
// temperature and clock. The name of the device takes the rest.
var gpuWidths = [...]int{4, 7, 7, 12, 16, 5, 7}

// gpuRow drops whole columns from the right where there is no room for all.
func gpuRow(w int, name string, cells ...string) string {
	s := ""
	for i, c := range cells {
		cell := right(c, gpuWidths[i])
		if runes(s)+runes(cell) > w {
			return s
		}
		s += cell
	}
	return s + "  " + clipWords(name, max(0, w-runes(s)-2))
}

func (g *gpuPanel) device(d *probe.GPUReading, w int) string {
	power := known(d.Power, group)
	if d.PowerLimit.OK {
		power += " / " + group(d.PowerLimit.V)
	}
	memory := known(d.MemUsed, gib) + " / " + known(d.MemTotal, gib)
	name := shortGPUName(d.Name)
	if d.Note != "" {
		name += ": " + clean(d.Note)
	}
	sm := percent(d.SM)
	if !d.SM.OK && d.Busy.OK {
		sm = "b" + percent(d.Busy) // busy: the coarse utilisation
	}
	return gpuRow(w, name, strconv.Itoa(d.Index), sm, percent(d.DRAM), power, memory,
		known(d.Temperature, group), known(d.SMClock.Scale(1e-6), group))
}

// shortGPUName drops the maker and the kind of memory: "H100 80GB".
func shortGPUName(s string) string {
	s = strings.TrimPrefix(clean(s), "NVIDIA ")
	s, _, _ = strings.Cut(s, " HBM")
	return s
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
			"SM: the share of time in which a streaming multiprocessor had at least one warp, averaged over all of them. It is not the \"utilisation\" of nvidia-smi, which is full as soon as any kernel runs; where only that is known it is called busy.",
			"DRAM: the share of the peak memory bandwidth in use. Decoding small batches is bound by it, prefill by the SMs.",
			"With several devices the chart shows the mean, the title the mean, the busiest SM activity and the sum of power. Zoom lists them all.",
		},
		source: source,
	}
	if age, ok := gpuAge(p.frame); ok {
		e.now = []string{"age " + span(age)}
	}
	if s.Why != "" {
		e.now = append(e.now, "why "+clean(s.Why))
	}
	return e
}
