package panel

import (
	"math"
	"slices"
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

// gpuTable has the figures of a device, the most important first: shares with a bar before
// each, of that many cells, and where the panel is zoomed everything there is to know.
func gpuTable(t *theme.Palette, gpus []gpu.Reading, bar int, zoomed bool) text.Table[gpu.Reading] {
	column := func(name string, width int, cell func(*gpu.Reading) string) text.Column[gpu.Reading] {
		return text.Column[gpu.Reading]{Name: name, Width: width, Cell: func(d *gpu.Reading) text.Figure {
			if d.Lost && name != "#" {
				return text.Figure{} // the line says why
			}
			return text.Fig(cell(d), t.Plain)
		}}
	}
	share := func(share opt.Float, written string, st lipgloss.Style) string {
		return chart.Bar(bar, barShare(share), st) + text.Right(written, 5)
	}
	busy := onlyBusy(gpus)
	columns := []text.Column[gpu.Reading]{
		column("#", 2, gpuNumber),
		column(activityName(busy), 5, func(d *gpu.Reading) string {
			if !d.SM.OK && d.Busy.OK {
				return share(d.Busy, shortActivity(d, busy), t.Dim)
			}
			return share(d.SM, gpuPercent(d.SM), t.First)
		}),
		column("DRAM", 5, func(d *gpu.Reading) string { return share(d.DRAM, gpuPercent(d.DRAM), t.Second) }),
	}
	if !zoomed {
		return text.Table[gpu.Reading]{Columns: append(columns,
			column("power", gpuPowerWidth-1, func(d *gpu.Reading) string { return units.Known(d.Power, units.Whole) + " W" }),
			column("GiB", gpuMemoryWidth-1, func(d *gpu.Reading) string { return units.Known(d.MemUsed.Scale(1.0/(1<<30)), units.Whole) }))}
	}
	place := places(gpus)
	return text.Table[gpu.Reading]{Columns: append(columns,
		column("power W", 11, powerOfLimit),
		column("memory GiB", 15, memoryOfTotal),
		column("°C", 4, func(d *gpu.Reading) string { return units.Known(d.Temperature, units.Whole) }),
		column("MHz", 6, func(d *gpu.Reading) string { return units.Known(d.SMClock.Scale(1e-6), units.Whole) }),
		column("tensor", 7, func(d *gpu.Reading) string { return gpuPercent(d.Tensor) }),
		column("PCIe GB/s", 12, func(d *gpu.Reading) string { return traffic(d.PCIeSent, d.PCIeReceived) }),
		column("NVLink GB/s", 12, func(d *gpu.Reading) string { return traffic(d.NVLinkSent, d.NVLinkReceived) }),
	), RestName: "device", Rest: func(d *gpu.Reading) string { return place(d) + shortGPUName(d.Name) }}
}

// gpuLines writes devices in lines of w cells below the names of the columns. A lost device
// has a line that says so.
func gpuLines(t *theme.Palette, table text.Table[gpu.Reading], gpus []gpu.Reading, w int) []string {
	head, lines := table.Lines(t, gpus, w)
	for i := range gpus {
		if d := &gpus[i]; d.Lost {
			note := strings.TrimSpace(text.Clean(d.Note) + "  " + shortGPUName(d.Name))
			lines[i] = text.Right(gpuNumber(d), gpuNumberWidth-1) + "  " + t.Bad.Render(text.ClipWords(note, w-gpuNumberWidth-1))
		}
	}
	return append(head, lines...)
}

// In the small panel each of several devices has a row, in as many blocks side by side as it
// takes; without room for that, a cell each.
const (
	gpuNumberWidth = 4  // number of the device
	gpuPowerWidth  = 7  // watts
	gpuMemoryWidth = 6  // GiB
	gpuBarLeast    = 3  // a shorter bar shows nothing
	gpuBarMost     = 24 // a longer one no more
	gpuRowLeast    = 15 // number and shares
	gpuChartLeast  = 4  // rows of a chart below them
)

// gpuRows draws the devices into at most h lines; nil: there is no room for a row each.
func gpuRows(t *theme.Palette, gpus []gpu.Reading, w, h int) []string {
	blocks := gpuBlocks(len(gpus), w, h)
	if blocks == 0 {
		return nil
	}
	n, each := (len(gpus)+blocks-1)/blocks, (w-blocks+1)/blocks // a blank between blocks
	table := gpuTable(t, gpus, gpuBar(each), false)
	lines := make([]string, n+1)
	for block := range slices.Chunk(gpus, n) {
		for i, line := range gpuLines(t, table, block, each) {
			lines[i] += text.Pad(line, each) + " "
		}
	}
	return lines
}

// gpuBlocks is the number of blocks of rows: the fewest that leave room for a chart, else the
// fewest that fit; 0 if the rows do not fit.
func gpuBlocks(n, w, h int) int {
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

// gpuBar is how long the bars of a row of w cells can be: they get what the figures leave.
// Memory is the first figure to be dropped.
func gpuBar(w int) int {
	rest := w - gpuRowLeast - 2*gpuBarLeast
	if rest < 0 {
		return 0
	}
	if rest >= gpuPowerWidth+gpuMemoryWidth {
		rest -= gpuMemoryWidth
	}
	if rest >= gpuPowerWidth {
		rest -= gpuPowerWidth
	}
	return min(gpuBarLeast+rest/2, gpuBarMost)
}

// activityName is "busy" where no device reports its SM activity, which is another quantity.
func activityName(busy bool) string {
	if busy {
		return "busy"
	}
	return "SM"
}

// shortActivity is SM activity, or else busy time, marked with a b in a column of SM
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

// barShare is what a bar shows: nothing for a value that cannot be a share.
func barShare(f opt.Float) float64 {
	if !f.OK || f.V > mostShare {
		return math.NaN()
	}
	return f.V
}

// mostShare is how far counters may exceed the whole.
const mostShare = 1.5

// gpuPercent is a share of a device. Its counters are sometimes slightly above 100 %, which
// is shown; far above, it is not a share.
func gpuPercent(f opt.Float) string {
	if f.OK && f.V > 1.005 && f.V <= mostShare {
		return ">100%"
	}
	return units.Percent(f)
}

// gpuCells draws one cell per device: SM, DRAM, power and memory as shares, a line each.
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
