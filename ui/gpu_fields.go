package ui

import (
	"strings"

	"sonde/gpu"
	"sonde/probe/opt"
)

// fields says where each quantity comes from, in the words of its source, and of a
// single device also its value. Two columns where there is room.
func (g *gpuPanel) fields(p *picture, w int) []string {
	gpus := p.frame.GPU.GPUs
	entries := gpuFields(gpus)
	columns := max(1, min(2, w/56))
	each := w / columns
	n := (len(entries) + columns - 1) / columns
	lines := []string{g.theme.dim.Render(" " + clipWords(gpuAgeLine(p.frame), w-1))}
	for i := range n {
		line := ""
		for at := i; at < len(entries); at += n {
			e := entries[at]
			value := ""
			if len(gpus) == 1 {
				value = right(e.value, 11) + "  "
			}
			line += pad(" "+pad(e.name, 17)+value+g.theme.dim.Render(e.source), each)
		}
		lines = append(lines, line)
	}
	return lines
}

// gpuField is a quantity that some device tells, or could tell.
type gpuField struct{ name, value, source string }

// gpuFields lists what the source of the devices can tell; what is not there, a
// single device shows as unknown. Of several devices the first that knows a value
// names its source.
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
			e := gpuField{f.Name, fieldText(f.Value, f.Unit), clean(f.Source)}
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
		return unknown
	}
	switch unit {
	case "":
		return gpuPercent(v)
	case "bytes":
		return gib(v.V) + " GiB"
	case "bytes/s":
		return sig3(v.V/1e9) + " GB/s"
	case "Hz":
		return group(v.V/1e6) + " MHz"
	}
	return group(v.V) + " " + unit
}

// fieldsNow are the sources of all quantities as one sentence of the explain view.
func fieldsNow(gpus []gpu.Reading) []string {
	var told, absent []string
	for _, f := range gpuFields(gpus) {
		if f.value == unknown {
			absent = append(absent, f.name)
			continue
		}
		told = append(told, f.name+" "+f.source)
	}
	var now []string
	if len(told) > 0 {
		now = append(now, "fields "+strings.Join(told, ", "))
	}
	if len(absent) > 0 {
		now = append(now, "absent "+strings.Join(absent, ", "))
	}
	return now
}
