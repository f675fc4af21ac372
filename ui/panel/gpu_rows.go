package panel

import (
	"math"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"sonde/gpu"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// Several devices are a row each in the small panel, in as many columns as it takes;
// where there is no room for that, one cell each.
//
//	#  SM             DRAM           power   GiB
//	0  ████████▌ 88 % █████▌    62 % 512 W    65
const (
	gpuNumberWidth = 4  // number of the device
	gpuShareWidth  = 6  // a share as a number
	gpuPowerWidth  = 7  // watts
	gpuMemoryWidth = 6  // GiB
	gpuBarLeast    = 3  // a shorter bar shows nothing
	gpuBarMost     = 24 // a longer one no more
	gpuRowLeast    = gpuNumberWidth + 2*gpuShareWidth
	gpuChartLeast  = 4 // rows of a chart beside them
)

// gpuRows draws the devices into at most h lines; nil: there is no room for a row each.
func gpuRows(t *theme.Palette, gpus []gpu.Reading, w, h int) []string {
	columns := gpuColumns(len(gpus), w, h)
	if columns == 0 {
		return nil
	}
	n := (len(gpus) + columns - 1) / columns
	each := (w - columns + 1) / columns // a blank between columns
	one := newGPURow(t, each, onlyBusy(gpus))
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

// gpuColumns is how many columns of rows to draw: as few as leave room for a chart, else
// as few as fit; 0 if none do.
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

// gpuRow is the shape of a row of w cells. What finds no room is omitted, the memory
// first.
type gpuRow struct {
	theme         *theme.Palette
	w, bar        int
	busy          bool // the first share is how busy a device is, not its SM activity
	power, memory bool
}

func newGPURow(t *theme.Palette, w int, busy bool) gpuRow {
	r := gpuRow{theme: t, w: w, busy: busy}
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

// activityName is "busy" where no device reports its SM activity: it is another thing.
func activityName(busy bool) string {
	if busy {
		return "busy"
	}
	return "SM"
}

func (r gpuRow) head() string {
	share := r.bar + gpuShareWidth
	s := text.Right("#", gpuNumberWidth-1) + " " + text.Pad(activityName(r.busy), share) + text.Pad("DRAM", share)
	if r.power {
		s += text.Right("power", gpuPowerWidth)
	}
	if r.memory {
		s += text.Right("GiB", gpuMemoryWidth)
	}
	return text.Pad(r.theme.Dim.Render(s), r.w)
}

func (r gpuRow) device(d *gpu.Reading) string {
	t := r.theme
	s := text.Right(gpuNumber(d), gpuNumberWidth-1) + " "
	if d.Lost {
		return text.Pad(s+t.Bad.Render(text.CleanTo(d.Note, r.w-gpuNumberWidth)), r.w)
	}
	active, style := d.SM, t.First
	if !d.SM.OK && d.Busy.OK {
		active, style = d.Busy, t.Dim
	}
	s += r.share(active, shortActivity(d, r.busy), style) + r.share(d.DRAM, gpuPercent(d.DRAM), t.Second)
	if r.power {
		s += text.Right(units.Known(d.Power, units.Group)+" W", gpuPowerWidth)
	}
	if r.memory {
		s += text.Right(units.Known(d.MemUsed.Scale(1.0/(1<<30)), units.Group), gpuMemoryWidth)
	}
	return text.Pad(s, r.w)
}

// share is a bar and its number.
func (r gpuRow) share(f opt.Float, number string, st lipgloss.Style) string {
	return chart.Bar(r.bar, barShare(f), st) + text.Right(number, gpuShareWidth-1) + " "
}

// shortActivity is SM activity, or busy time, with a mark where the column is of SM
// activity.
func shortActivity(d *gpu.Reading, busyColumn bool) string {
	switch {
	case d.SM.OK || !d.Busy.OK:
		return gpuPercent(d.SM)
	case busyColumn:
		return gpuPercent(d.Busy)
	}
	return "b" + strings.ReplaceAll(gpuPercent(d.Busy), " ", "")
}

// barShare is what a bar shows: nothing for what cannot be a share, as its number does.
func barShare(f opt.Float) float64 {
	if !f.OK || f.V > mostShare {
		return math.NaN()
	}
	return f.V
}

// mostShare is how far counters may exceed the whole.
const mostShare = 1.5

// gpuPercent is a share of a device. The counters behind it are sometimes a little beyond
// the whole, which is shown and not hidden; what is far beyond is not a share.
func gpuPercent(f opt.Float) string {
	if f.OK && f.V > 1.005 && f.V <= mostShare {
		return ">100%"
	}
	return units.Percent(f)
}

// gpuCells draws one cell a device: SM, DRAM, power and memory as shares, a line each.
func gpuCells(t *theme.Palette, gpus []gpu.Reading, w, h int) []string {
	const label = 2
	name, active := "SM", smOf
	if onlyBusy(gpus) {
		name, active = "b", busyOf
	}
	shown := gpus[:min(len(gpus), max(0, w-label))]
	lines := []string{}
	for i, m := range []struct {
		label string
		share func(*gpu.Reading) opt.Float
	}{
		{name, active}, {"DR", dramOf},
		{"W", func(d *gpu.Reading) opt.Float { return over(d.Power, d.PowerLimit) }},
		{"M", func(d *gpu.Reading) opt.Float { return over(d.MemUsed, d.MemTotal) }},
	} {
		style := t.First
		if i%2 == 1 { // memory
			style = t.Second
		}
		shares := make([]float64, len(shown))
		for i := range shown {
			shares[i] = barShare(m.share(&shown[i]))
		}
		lines = append(lines, t.Dim.Render(text.Pad(m.label, label))+chart.Spark(len(shown), shares, 1, style))
	}
	if note := gpusOmitted(gpus, len(shown)); note != "" {
		lines = append(lines[:min(len(lines), max(0, h-1))], t.Bad.Render(text.Clip(note, w)))
	}
	return chart.Fit(lines, w, h)
}

// gpusOmitted names lost devices, and how many found no room.
func gpusOmitted(gpus []gpu.Reading, shown int) string {
	note := ""
	if lost := lostGPUs(gpus); len(lost) > 0 {
		note = "lost " + numbers(lost)
	}
	if more := len(gpus) - shown; more > 0 {
		note = strings.TrimSpace(note + " +" + strconv.Itoa(more) + " (z)")
	}
	return note
}

// over is a share of a known whole.
func over(part, whole opt.Float) opt.Float {
	if !part.OK || !whole.OK || whole.V <= 0 {
		return opt.Float{}
	}
	return part.Scale(1 / whole.V)
}
