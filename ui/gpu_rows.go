package ui

import (
	"math"
	"strconv"
	"strings"

	"sonde/gpu"
	"sonde/probe/opt"
	"sonde/ui/chart"
)

// Several devices are a row each in the small panel, in as many columns as it
// takes; where there is no room for that, one cell each.
//
//	#  SM             DRAM           power   GiB
//	0  ████████▌ 88 % █████▌    62 % 512 W    65
const (
	gpuNumberWidth = 4  // number of the device
	gpuShareWidth  = 6  // a share as a number
	gpuPowerWidth  = 7  // watts
	gpuMemoryWidth = 6  // GiB
	gpuBarLeast    = 3  // a bar below tells nothing
	gpuBarMost     = 24 // and above no more
	gpuRowLeast    = gpuNumberWidth + 2*gpuShareWidth
	gpuChartLeast  = 4 // rows of a chart beside them
)

// rows draws the devices into at most h lines; nil: there is no room for a row each.
func (g *gpuPanel) rows(gpus []gpu.Reading, w, h int) []string {
	columns := gpuColumns(len(gpus), w, h)
	if columns == 0 {
		return nil
	}
	n := (len(gpus) + columns - 1) / columns
	each := (w - columns + 1) / columns // a blank between columns
	one := newGPURow(g.theme, each)
	one.active = activeName(gpus)
	head := one.head()
	lines := []string{head + strings.Repeat(" "+head, columns-1)}
	for i := range n {
		cells := []string{}
		for at := i; at < len(gpus); at += n {
			cells = append(cells, one.device(&gpus[at]))
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return lines
}

// gpuColumns is how many columns of rows to draw: as few as leave room for a chart,
// else as few as fit; 0 if none do.
func gpuColumns(n, w, h int) int {
	fits := 0
	for c := 1; c <= n && (w-c+1)/c >= gpuRowLeast; c++ {
		switch used := 1 + (n+c-1)/c; {
		case used+gpuChartLeast <= h:
			return c
		case used <= h && fits == 0:
			fits = c
		}
	}
	return fits
}

// gpuRow is the shape of a row of w cells. What finds no room is left out, the
// memory first.
type gpuRow struct {
	theme         *theme
	w, bar        int
	active        string // what the first share is: SM or busy
	power, memory bool
}

func newGPURow(t *theme, w int) gpuRow {
	r := gpuRow{theme: t, w: w}
	rest := w - gpuRowLeast - 2*gpuBarLeast
	if rest >= gpuPowerWidth {
		r.power, rest = true, rest-gpuPowerWidth
	}
	if r.power && rest >= gpuMemoryWidth {
		r.memory, rest = true, rest-gpuMemoryWidth
	}
	if rest >= 0 {
		r.bar = min(gpuBarLeast+rest/2, gpuBarMost)
	}
	return r
}

func (r gpuRow) head() string {
	share := r.bar + gpuShareWidth
	s := right("#", gpuNumberWidth-1) + " " + pad(r.active, share) + pad("DRAM", share)
	if r.power {
		s += right("power", gpuPowerWidth)
	}
	if r.memory {
		s += right("GiB", gpuMemoryWidth)
	}
	return pad(r.theme.dim.Render(s), r.w)
}

func (r gpuRow) device(d *gpu.Reading) string {
	t := r.theme
	s := right(gpuNumber(d), gpuNumberWidth-1) + " "
	if d.Lost {
		return pad(s+t.bad.Render(clipWords(clean(d.Note), r.w-gpuNumberWidth)), r.w)
	}
	active, style := d.SM, t.first
	if !d.SM.OK && d.Busy.OK {
		active, style = d.Busy, t.dim
	}
	value := shortBusy(d, r.active == "SM")
	s += chart.Bar(r.bar, ratioOrNaN(active), style, t.ascii) + right(value, gpuShareWidth-1) + " "
	s += chart.Bar(r.bar, ratioOrNaN(d.DRAM), t.second, t.ascii) + right(gpuPercent(d.DRAM), gpuShareWidth-1) + " "
	if r.power {
		s += right(known(d.Power, group)+" W", gpuPowerWidth)
	}
	if r.memory {
		s += right(known(d.MemUsed.Scale(1.0/(1<<30)), group), gpuMemoryWidth)
	}
	return pad(s, r.w)
}

// shortBusy is SM activity, or busy time with a mark where the column is of SM
// activity.
func shortBusy(d *gpu.Reading, ofSM bool) string {
	switch {
	case d.SM.OK || !d.Busy.OK:
		return gpuPercent(d.SM)
	case !ofSM:
		return gpuPercent(d.Busy)
	}
	return "b" + strings.ReplaceAll(gpuPercent(d.Busy), " ", "")
}

// activeName is "busy" where no device tells its SM activity: it is another thing.
func activeName(gpus []gpu.Reading) string {
	name := "SM"
	for i := range gpus {
		switch {
		case gpus[i].SM.OK:
			return "SM"
		case gpus[i].Busy.OK:
			name = "busy"
		}
	}
	return name
}

// gpuNumber is the number of a GPU, and ".3" for the third part of the one above.
func gpuNumber(d *gpu.Reading) string {
	if d.Parent == "" {
		return strconv.Itoa(d.Index)
	}
	return "." + clip(clean(d.ID[strings.LastIndexByte(d.ID, '/')+1:]), gpuNumberWidth-2)
}

// ratioOrNaN is what a bar shows: nothing for what is no share, as its number does.
func ratioOrNaN(f opt.Float) float64 {
	if !f.OK || f.V > mostShare {
		return math.NaN()
	}
	return f.V
}

// mostShare is how far counters may exceed the whole.
const mostShare = 1.5

// cells draws one cell a device: SM, DRAM, power and memory as shares, a line each.
func (g *gpuPanel) cells(gpus []gpu.Reading, w, h int) []string {
	const label = 2
	t := g.theme
	name, active := "SM", func(d *gpu.Reading) opt.Float { return d.SM }
	if activeName(gpus) != "SM" {
		name, active = "b", func(d *gpu.Reading) opt.Float { return d.Busy }
	}
	shown := gpus[:min(len(gpus), max(0, w-label))]
	lines := []string{}
	for _, m := range []struct {
		label string
		of    func(*gpu.Reading) opt.Float
		first bool
	}{
		{name, active, true},
		{"DR", func(d *gpu.Reading) opt.Float { return d.DRAM }, false},
		{"W", func(d *gpu.Reading) opt.Float { return over(d.Power, d.PowerLimit) }, true},
		{"M", func(d *gpu.Reading) opt.Float { return over(d.MemUsed, d.MemTotal) }, false},
	} {
		style := t.second
		if m.first {
			style = t.first
		}
		shares := make([]float64, len(shown))
		for i := range shown {
			shares[i] = ratioOrNaN(m.of(&shown[i]))
		}
		lines = append(lines, t.dim.Render(pad(m.label, label))+chart.Spark(len(shown), shares, 1, style, t.ascii))
	}
	if note := gpusLeftOut(gpus, len(shown)); note != "" {
		lines = append(lines[:min(len(lines), max(0, h-1))], t.bad.Render(clip(note, w)))
	}
	return chart.Fit(lines, w, h)
}

// gpusLeftOut names lost devices, and how many found no room.
func gpusLeftOut(gpus []gpu.Reading, shown int) string {
	note := ""
	if lost := lostNumbers(gpus); lost != "" {
		note = "lost " + lost
	}
	if more := len(gpus) - shown; more > 0 {
		note = strings.TrimSpace(note + " +" + strconv.Itoa(more) + " (z)")
	}
	return note
}

func lostNumbers(gpus []gpu.Reading) string {
	var numbers []string
	for i := range gpus {
		if gpus[i].Lost {
			numbers = append(numbers, gpuNumber(&gpus[i]))
		}
	}
	return strings.Join(numbers, ", ")
}

// over is a share of a known whole.
func over(part, whole opt.Float) opt.Float {
	if !part.OK || !whole.OK || whole.V <= 0 {
		return opt.Float{}
	}
	return part.Scale(1 / whole.V)
}

// gpuPercent is a share of a device. The counters behind it are sometimes a little
// beyond the whole, which is told and not hidden; what is far beyond is no share.
func gpuPercent(f opt.Float) string {
	if f.OK && f.V > 1.005 && f.V <= mostShare {
		return ">100%"
	}
	return percent(f)
}
