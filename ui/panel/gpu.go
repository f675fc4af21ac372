package panel

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/gpu"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// gpuPanel draws SM activity and the share of memory bandwidth: one device as a chart,
// several as a row each above the chart of their mean. Zoomed, it is a table of everything.
type gpuPanel struct{}

func (g gpuPanel) Heading(v *View) text.Heading {
	gpus := v.Frame.GPU.GPUs
	hd := text.Heading{Name: gpuName(gpus), Column: v.History.Width}
	if len(gpus) == 0 {
		hd.Figures = []text.Figure{text.Fig(units.Unknown, v.Theme.Dim)}
		return hd
	}
	hd.Figures = gpuFigures(v.Theme, gpus)
	hd.Spare = len(hd.Figures) - 2 // power stays, what goes is the bandwidth
	if other := v.besideGPU(); other != nil {
		hd.Figures, hd.Spare = append(hd.Figures[:hd.Spare+1], other...), 0
	}
	hd.Foot = g.foot(v)
	return hd
}

// foot is what is occasionally true: old readings, lost devices, or a remark that applies to
// all devices.
func (gpuPanel) foot(v *View) []text.Figure {
	t, s := v.Theme, &v.Frame.GPU
	if note := v.gpuAgeNote(); note != "" {
		return []text.Figure{text.Fig(note, t.Warn), text.Fig(text.Clean(s.Reason()), t.Dim)}
	}
	if lost := lostGPUs(s.GPUs); len(lost) > 0 {
		foot := []text.Figure{text.Fig(theme.SignWarn+" GPU "+numbers(lost)+" lost", t.Bad)}
		if len(lost) == 1 {
			foot = append(foot, text.Fig(text.Clean(lost[0].Note), t.Dim))
		}
		return foot
	}
	if scope := text.Clean(s.Scope.String()); scope != "" {
		return []text.Figure{text.Fig(scope, t.Note)}
	}
	note := gpuNote(&s.GPUs[0])
	for i := range s.GPUs {
		if gpuNote(&s.GPUs[i]) != note {
			return nil
		}
	}
	if note == "" {
		return nil
	}
	return []text.Figure{text.Fig(note, t.Dim)}
}

func lostGPUs(gpus []gpu.Reading) []gpu.Reading {
	var lost []gpu.Reading
	for i := range gpus {
		if gpus[i].Lost {
			lost = append(lost, gpus[i])
		}
	}
	return lost
}

func numbers(gpus []gpu.Reading) string {
	names := make([]string, len(gpus))
	for i := range gpus {
		names[i] = gpuNumber(&gpus[i])
	}
	return strings.Join(names, ", ")
}

// gpuNumber is the number of a GPU, and ".3" for the third part of the one above.
func gpuNumber(d *gpu.Reading) string {
	if d.Parent == "" {
		return strconv.Itoa(d.Index)
	}
	return "." + text.Clip(text.Clean(d.ID[strings.LastIndexByte(d.ID, '/')+1:]), gpuNumberWidth-2)
}

func smOf(d *gpu.Reading) opt.Float   { return d.SM }
func busyOf(d *gpu.Reading) opt.Float { return d.Busy }
func dramOf(d *gpu.Reading) opt.Float { return d.DRAM }

// onlyBusy reports whether no device has SM activity and some have busy time. Any kernel,
// however small, makes a GPU busy, so busy time has its own name.
func onlyBusy(gpus []gpu.Reading) bool {
	busy := false
	for i := range gpus {
		if gpus[i].SM.OK {
			return false
		}
		busy = busy || gpus[i].Busy.OK
	}
	return busy
}

// gpuFigures are SM activity (mean, and highest of several devices), bandwidth and power.
func gpuFigures(t *theme.Palette, gpus []gpu.Reading) []text.Figure {
	first, second := curveSigns(t)
	name, value, style := first+"SM ", smOf, t.First
	if onlyBusy(gpus) {
		name, value, style = strings.Replace(first, "o", ".", 1)+"busy ", busyOf, t.Dim
	}
	var active opt.TimeMean
	for i := range gpus {
		active.Add(value(&gpus[i]), 1)
	}
	mean, dram := gpuPercent(active.Mean()), gpuPercent(history.MeanOf(gpus, dramOf))
	if len(gpus) == 1 {
		mean, dram = text.Right(mean, 5), text.Right(dram, 5)
	} else {
		mean += " max " + gpuPercent(active.Max())
	}
	return []text.Figure{text.Fig(name+mean, style), text.Fig(second+"DRAM "+dram, t.Second), text.Fig(powerText(gpus), t.Plain)}
}

// powerText is the sum over whole devices, and over how many of them if some do not report
// it. A split GPU reports its power, its parts their activity.
func powerText(gpus []gpu.Reading) string {
	sum, powered := 0.0, 0
	for i := range gpus {
		if g := &gpus[i]; g.Parent == "" && g.Power.OK {
			sum += g.Power.V
			powered++
		}
	}
	switch wholes := wholeGPUs(gpus); {
	case powered == 0:
		return units.Unknown + " W"
	case powered < wholes:
		return fmt.Sprintf("%s W (%d of %d)", units.Whole(sum), powered, wholes)
	}
	return text.Right(units.Whole(sum), 3) + " W"
}

// gpuName counts whole devices, and separately the parts of split ones.
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

func (g gpuPanel) Body(v *View, w, h int) []string {
	gpus := v.Frame.GPU.GPUs
	switch {
	case len(gpus) == 0:
		return text.Because(v.Theme, whyNoGPU(v), w, h)
	case len(gpus) == 1:
		return g.lines(v, w, h)
	}
	rows := gpuRows(v.Theme, gpus, w, h)
	if rows == nil {
		return gpuCells(v.Theme, gpus, w, h)
	}
	if rest := h - len(rows); rest >= gpuChartLeast {
		rows = append(rows, g.lines(v, w, rest)...)
	}
	return chart.Fit(rows, w, h)
}

// lines is the chart of the means over all devices; of busy time where no device reports
// its SM activity.
func (gpuPanel) lines(v *View, w, h int) []string {
	t := v.Theme
	return overTime(v, w, h, shares, percentLabel,
		line{t.Dim, '.', func(c *history.Column, _ int) opt.Float { return c.Busy.Mean() }, false, 0},
		line{t.Second, '+', func(c *history.Column, _ int) opt.Float { return c.DRAM.Mean() }, true, sparseDots},
		line{t.First, 'o', func(c *history.Column, _ int) opt.Float { return c.SM.Mean() }, false, denseDots})
}

func whyNoGPU(v *View) string {
	switch {
	case v.Frame.GPU.Reason() != "":
		return v.Frame.GPU.Reason()
	case !v.Have:
		return "waiting for data"
	}
	return "no GPU readings yet"
}

// shortGPUName drops the maker and the kind of memory: "H100 80GB".
func shortGPUName(s string) string {
	s = strings.TrimPrefix(text.Clean(s), "NVIDIA ")
	before, after, cut := strings.Cut(s, " HBM")
	if _, part, isPart := strings.Cut(after, " MIG "); cut && isPart {
		return before + " MIG " + part
	}
	return before
}

func (gpuPanel) Explain(v *View) Explanation {
	s := &v.Frame.GPU
	e := Explanation{
		Title: "GPU: SM activity and memory bandwidth",
		Text: []string{
			"SM: the share of time in which a streaming multiprocessor had at least one warp, averaged over all of them. It is not the \"utilisation\" of nvidia-smi, which reads 100 % as soon as any kernel runs. Where only that is known, it is called busy (b).",
			"DRAM: the share of peak memory bandwidth in use. Decoding small batches is bound by it, prefill by the SMs. It is not memory busy time.",
			"With several devices, each has a row. The chart shows their mean; the title shows mean and highest SM activity and total power. The zoomed view shows everything, and where each quantity comes from.",
		},
		Source: text.CleanOr(s.Source, "none"),
	}
	if len(s.GPUs) > 0 {
		e.Now = ageNow(v, s.At)
	}
	if s.Period > 0 {
		e.Now = append(e.Now, "interval new values every "+units.Span(s.Period))
	}
	if why := s.Reason(); why != "" {
		e.Now = append(e.Now, "why "+text.Clean(why))
	}
	return e
}
