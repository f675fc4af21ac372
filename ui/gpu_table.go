package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/ui/chart"
)

// zoomed lists every device, then what is to be said about them, where each
// quantity comes from, and the chart: as much as there is room for.
func (g *gpuPanel) zoomed(p *picture, w, h int) []string {
	gpus := busiestFirst(p.frame.GPU.GPUs)
	if len(gpus) == 0 {
		return g.body(p, w, h)
	}
	lines := g.table(gpus, w)
	if len(lines) > h && h > 0 {
		left := g.theme.dim.Render(fmt.Sprintf("  … and %d more", len(lines)-h+1))
		lines = append(lines[:h-1], left)
	}
	notes := g.notes(gpus, w)
	lines = append(lines, notes[:min(len(notes), max(0, h-len(lines)))]...)
	if fields := g.fields(p, w); len(lines)+1+len(fields) <= h {
		lines = append(append(lines, ""), fields...)
	}
	if rest := h - len(lines) - 1; rest >= gpuChartLeast {
		lines = append(append(lines, ""), g.lines(p, w, rest)...)
	}
	return chart.Fit(lines, w, h)
}

// gpuColumn is a column of the table.
type gpuColumn struct {
	name  string
	width int
	cell  func(*gpu.Reading) string
}

// gpuTable is listed by importance: columns go from the right where room is short.
// The name of the device takes the rest.
var gpuTable = []gpuColumn{
	{"#", 4, gpuNumber},
	{"SM", 7, func(d *gpu.Reading) string { return gpuPercent(d.SM) }},
	{"DRAM", 7, func(d *gpu.Reading) string { return gpuPercent(d.DRAM) }},
	{"power W", 12, powerOfLimit},
	{"memory GiB", 16, memoryOfTotal},
	{"°C", 5, func(d *gpu.Reading) string { return known(d.Temperature, group) }},
	{"MHz", 7, func(d *gpu.Reading) string { return known(d.SMClock.Scale(1e-6), group) }},
}

// gpuWideTable has room for the rest, at 100 cells and more.
var gpuWideTable = append(slices.Clone(gpuTable),
	gpuColumn{"tensor", 8, func(d *gpu.Reading) string { return gpuPercent(d.Tensor) }},
	gpuColumn{"PCIe GB/s", 13, func(d *gpu.Reading) string { return traffic(d.PCIeSent, d.PCIeReceived) }},
	gpuColumn{"NVLink GB/s", 13, func(d *gpu.Reading) string { return traffic(d.NVLinkSent, d.NVLinkReceived) }},
)

const gpuWide = 100

// table is a line for each device below the names of the columns.
func (g *gpuPanel) table(gpus []gpu.Reading, w int) []string {
	columns := gpuTable
	if w >= gpuWide {
		columns = gpuWideTable
	}
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = c.name
	}
	head[1] = activeName(gpus)
	lines := []string{g.theme.dim.Render(tableRow(w, columns, "device", head))}
	place := places(gpus)
	for i := range gpus {
		d := &gpus[i]
		if d.Lost {
			lines = append(lines, right(gpuNumber(d), columns[0].width)+"  "+g.theme.bad.Render(clipWords(lostText(d), w-columns[0].width-2)))
			continue
		}
		cells := make([]string, len(columns))
		for k, c := range columns {
			cells[k] = c.cell(d)
		}
		cells[1] = shortBusy(d, head[1] == "SM")
		lines = append(lines, tableRow(w, columns, place(d)+shortGPUName(d.Name), cells))
	}
	return lines
}

// tableRow drops whole columns from the right where there is no room for all.
func tableRow(w int, columns []gpuColumn, name string, cells []string) string {
	s := ""
	for i, c := range cells {
		cell := right(c, columns[i].width)
		if runes(s)+runes(cell) > w {
			return s
		}
		s += cell
	}
	return s + "  " + clipWords(name, max(0, w-runes(s)-2))
}

func lostText(d *gpu.Reading) string {
	return strings.TrimSpace(clean(d.Note) + "  " + shortGPUName(d.Name))
}

func powerOfLimit(d *gpu.Reading) string {
	power := known(d.Power, group)
	if d.PowerLimit.OK {
		power += " / " + group(d.PowerLimit.V)
	}
	return power
}

func memoryOfTotal(d *gpu.Reading) string {
	return known(d.MemUsed, gib) + " / " + known(d.MemTotal, gib)
}

// traffic is sent and received bytes/s in GB/s.
func traffic(sent, received opt.Float) string {
	if !sent.OK && !received.OK {
		return unknown
	}
	write := func(v float64) string { return sig3(v / 1e9) }
	return known(sent, write) + " " + known(received, write)
}

// notes say once what is true of several devices, with their numbers before it.
func (g *gpuPanel) notes(gpus []gpu.Reading, w int) []string {
	var said, numbers []string
	for i := range gpus {
		d := &gpus[i]
		note := gpuNote(d)
		if note == "" || d.Lost {
			continue
		}
		at := slices.Index(said, note)
		if at < 0 {
			said, numbers = append(said, note), append(numbers, gpuNumber(d))
			continue
		}
		numbers[at] += ", " + gpuNumber(d)
	}
	var lines []string
	for i, note := range said {
		if len(gpus) > 1 && len(said) > 1 {
			note = "GPU " + numbers[i] + ": " + note
		}
		for _, l := range wrap(note, w-2) {
			lines = append(lines, g.theme.dim.Render(" "+l))
		}
	}
	return lines
}

// gpuNote is what is to be said about a device.
func gpuNote(d *gpu.Reading) string {
	note := clean(d.Note)
	if !d.MemShared || !d.MemTotal.OK {
		return note
	}
	return "memory " + sharedMemory(d) + "; " + note
}

// sharedMemory is used and total memory of a system that shares it with its GPU.
func sharedMemory(d *gpu.Reading) string {
	if !d.MemUsed.OK {
		return unknown + " of " + gib(d.MemTotal.V) + " GiB shared"
	}
	return gib(d.MemUsed.V) + " of " + gib(d.MemTotal.V) + " GiB shared (" + tenth(100*d.MemUsed.V/d.MemTotal.V) + " %)"
}

// ageLine is from where the values are, how old, and how often there are new ones.
func gpuAgeLine(f *frame.Frame) string {
	line := "from " + clean(f.GPU.Source)
	if age, ok := gpuAge(f); ok {
		line += " · " + span(age.Round(100*time.Millisecond)) + " old"
	}
	if f.GPU.Period > 0 {
		line += " · new values every " + span(f.GPU.Period)
	}
	return line
}
