package panel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"sonde/gpu"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/text"
)

// gpuWide is the width from which the table has all its columns.
const gpuWide = 100

// Zoomed lists every device, then remarks about them, where each quantity comes from,
// and the chart: as much as there is room for.
func (g gpuPanel) Zoomed(v *View, w, h int) []string {
	gpus := busiestFirst(v.Frame.GPU.GPUs)
	if len(gpus) == 0 {
		return g.Body(v, w, h)
	}
	table := gpuTable(v.Theme, gpus, 0, true)
	if w < gpuWide {
		table.Columns = table.Columns[:7] // so that the names of the devices have room
	}
	lines := gpuLines(v.Theme, table, gpus, w)
	if len(lines) > h && h > 0 {
		more := v.Theme.Dim.Render(fmt.Sprintf("  … and %d more", len(lines)-h+1))
		lines = append(lines[:h-1], more)
	}
	notes := gpuNotes(v, gpus, w)
	lines = append(lines, notes[:min(len(notes), max(0, h-len(lines)))]...)
	if fields := gpuFieldLines(v, w); len(lines)+1+len(fields) <= h {
		lines = append(append(lines, ""), fields...)
	}
	if rest := h - len(lines) - 1; rest >= gpuChartLeast {
		lines = append(append(lines, ""), g.lines(v, w, rest)...)
	}
	return chart.Fit(lines, w, h)
}

func powerOfLimit(d *gpu.Reading) string {
	power := units.Known(d.Power, units.Whole)
	if d.PowerLimit.OK {
		power += " / " + units.Whole(d.PowerLimit.V)
	}
	return power
}

func memoryOfTotal(d *gpu.Reading) string {
	return units.Known(d.MemUsed, units.GiB) + " / " + units.Known(d.MemTotal, units.GiB)
}

// traffic is sent and received bytes/s in GB/s.
func traffic(sent, received opt.Float) string {
	if !sent.OK && !received.OK {
		return units.Unknown
	}
	return units.Known(sent.Scale(1e-9), units.Sig3) + " " + units.Known(received.Scale(1e-9), units.Sig3)
}

// gpuNotes are why there are no newer readings, and the remarks about devices, each once,
// after the numbers of its devices.
func gpuNotes(v *View, gpus []gpu.Reading, w int) []string {
	var notes []string
	about := map[string][]gpu.Reading{}
	for i := range gpus {
		note := gpuNote(&gpus[i])
		if note == "" || gpus[i].Lost {
			continue
		}
		if about[note] == nil {
			notes = append(notes, note)
		}
		about[note] = append(about[note], gpus[i])
	}
	var lines []string
	if why := text.Clean(v.Frame.GPU.Reason()); why != "" {
		for _, l := range text.Wrap("no newer readings: "+why, w-2) {
			lines = append(lines, v.Theme.Warn.Render(" "+l))
		}
	}
	for _, note := range notes {
		lead := ""
		if len(gpus) > 1 && len(notes) > 1 {
			lead = "GPU " + numbers(about[note]) + ": "
		}
		for _, l := range text.Wrap(lead+note, w-2) {
			lines = append(lines, v.Theme.Dim.Render(" "+l))
		}
	}
	return lines
}

// gpuNote is a remark about a device.
func gpuNote(d *gpu.Reading) string {
	note := text.Clean(d.Note)
	if !d.MemShared || !d.MemTotal.OK {
		return note
	}
	used, share := units.Unknown, ""
	if d.MemUsed.OK {
		used, share = units.GiB(d.MemUsed.V), " ("+units.Tenth(100*d.MemUsed.V/d.MemTotal.V)+" %)"
	}
	return "memory " + used + " of " + units.GiB(d.MemTotal.V) + " GiB shared" + share + "; " + note
}

// gpuField is a quantity that some device reports, or could report.
type gpuField struct{ name, value, source string }

// gpuFields lists what the source of the devices can report. What is missing is shown as
// unknown for a single device. With several, the first that has a value gives its source.
func gpuFields(gpus []gpu.Reading) []gpuField {
	var out []gpuField
	known := map[string]bool{}
	at := map[string]int{}
	for i := range gpus {
		if gpus[i].Lost {
			continue
		}
		for _, f := range gpus[i].Fields() {
			if f.Source == "" || known[f.Name] {
				continue
			}
			e := gpuField{f.Name, fieldText(f.Value, f.Unit), text.Clean(f.Source)}
			if k, listed := at[f.Name]; listed {
				out[k] = e
			} else {
				at[f.Name] = len(out)
				out = append(out, e)
			}
			known[f.Name] = f.Value.OK
		}
	}
	return out
}

// fieldText writes a quantity with its unit.
func fieldText(v opt.Float, unit string) string {
	if !v.OK {
		return units.Unknown
	}
	switch unit {
	case "":
		return gpuPercent(v)
	case "bytes":
		return units.GiB(v.V) + " GiB"
	case "bytes/s":
		return units.Sig3(v.V/1e9) + " GB/s"
	case "Hz":
		return units.Whole(v.V/1e6) + " MHz"
	}
	return units.Whole(v.V) + " " + unit
}

// gpuFieldLines are where each quantity comes from, in the words of its source, and for a
// single device also its value, in two columns if there is room.
func gpuFieldLines(v *View, w int) []string {
	gpus := v.Frame.GPU.GPUs
	entries := gpuFields(gpus)
	columns := max(1, min(2, w/56))
	n := (len(entries) + columns - 1) / columns
	lines := []string{v.Theme.Dim.Render(" " + text.ClipWords(gpuAgeLine(v), w-1))}
	for i := range n {
		line := ""
		for at := i; at < len(entries); at += n {
			e := entries[at]
			value := ""
			if len(gpus) == 1 {
				value = text.Right(e.value, 11) + "  "
			}
			line += text.Pad(" "+text.Pad(e.name, 17)+value+v.Theme.Dim.Render(e.source), w/columns)
		}
		lines = append(lines, line)
	}
	return lines
}

// gpuAgeLine is where the values come from, how old they are, and how often there are new
// ones.
func gpuAgeLine(v *View) string {
	s := &v.Frame.GPU
	line := "from " + text.Clean(s.Source)
	if age, known := v.Frame.Age(s.At); known {
		line += " · " + units.Span(age.Round(100*time.Millisecond)) + " old"
	}
	if s.Period > 0 {
		line += " · new values every " + units.Span(s.Period)
	}
	return line
}

// places says what to write before the name of each GPU of a fleet: its machine, or the
// exporter where machines share a name; "" if all are on one.
func places(gpus []gpu.Reading) func(*gpu.Reading) string {
	place := exporterOf
	if differ(gpus, hostOf) {
		place = hostOf
	}
	if !differ(gpus, place) {
		return func(*gpu.Reading) string { return "" }
	}
	return func(g *gpu.Reading) string { return text.Clean(place(g)) + "  " }
}

// differ reports whether GPUs differ in a value, for example their machine.
func differ(gpus []gpu.Reading, value func(*gpu.Reading) string) bool {
	return slices.ContainsFunc(gpus, func(g gpu.Reading) bool { return value(&g) != value(&gpus[0]) })
}

func hostOf(g *gpu.Reading) string     { return g.Host }
func exporterOf(g *gpu.Reading) string { return g.Exporter }

// busiestFirst sorts the GPUs of a fleet by activity, lost ones first: the table has no room
// for all. GPUs of a single machine stay in the order of their numbers.
func busiestFirst(gpus []gpu.Reading) []gpu.Reading {
	if !differ(gpus, hostOf) && !differ(gpus, exporterOf) {
		return gpus
	}
	rank := func(g gpu.Reading) float64 {
		if g.Lost {
			return math.Inf(1)
		}
		return g.SM.Or(g.Busy.Or(-1))
	}
	out := slices.Clone(gpus)
	slices.SortStableFunc(out, func(a, b gpu.Reading) int { return cmp.Compare(rank(b), rank(a)) })
	return out
}
