package smi

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/probe/opt"
)

// rows reads what a run printed: a line of values for each GPU, or a sentence for one
// that does not answer.
func (s *Reader) rows(text string) []gpu.Reading {
	var readings []gpu.Reading
	for line := range strings.Lines(text) {
		if cells := s.cells(line); cells != nil {
			readings = append(readings, s.reading(cells))
		} else if m := noHandle.FindStringSubmatch(line); m != nil {
			readings = append(readings, s.unreachable(m[1], m[2], len(readings)))
		}
	}
	slices.SortStableFunc(readings, func(a, b gpu.Reading) int { return cmp.Compare(a.Index, b.Index) })
	return readings
}

var (
	noHandle = regexp.MustCompile(`(?i)unable to determine the device handle for gpu\s*([0-9a-f:.]+):\s*(.*)`)
	noField  = regexp.MustCompile(`(?i)field "([a-z0-9_.]+)" is not a valid field`)
)

// unknownField is the field that the driver refuses, "" if it knows all.
func unknownField(text string) string {
	if m := noField.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// cells are the values of a line by field; nil if the line is not a row.
func (s *Reader) cells(line string) map[string]string {
	values := strings.Split(strings.TrimSpace(line), ",")
	if len(values) != len(s.fields) {
		return nil
	}
	cells := make(map[string]string, len(values))
	for i, v := range values {
		cells[s.fields[i]] = strings.TrimSpace(v)
	}
	return cells
}

func (s *Reader) reading(cells map[string]string) gpu.Reading {
	index, _ := strconv.Atoi(cells["index"])
	index = max(0, index)
	r := gpu.Reading{ID: cmp.Or(textValue(cells["uuid"]), s.machine.Name()+"/"+strconv.Itoa(index)), Index: index, Name: textValue(cells["name"]), Source: gpu.SourceSMI}
	r.Fill(func(field string) opt.Float {
		if column, ok := strings.CutPrefix(field, dmonPrefix); ok {
			return s.counters.get(index, column)
		}
		return numberValue(cells[field])
	})
	r.Lost = isLost(cells)
	if r.MemUsed.V > r.MemTotal.V { // all ones means "not available" on WSL2
		r.MemUsed = opt.Float{}
	}
	if r.Lost {
		r.Note = nvml.CodeGPUIsLost.Error()
		return r
	}
	if address := cells["pci.bus_id"]; address != "" {
		s.names[pciKey(address)] = r
	}
	r.Note = gpu.Join(r.SlowedBy(maskValue(cells["clocks_event_reasons.active"])), missing(r, cells), whyNoCounters(r), s.sharedMemory(&r, cells))
	return r
}

// whyNoCounters says what would bring SM and DRAM activity.
func whyNoCounters(r gpu.Reading) string {
	if r.SM.OK || r.DRAM.OK {
		return ""
	}
	return "SM and DRAM: nvidia-smi has them on Hopper and newer (driver R525), DCGM on older GPUs"
}

func missing(r gpu.Reading, cells map[string]string) string {
	var busy, power string
	switch {
	case strings.EqualFold(cells["mig.mode.current"], "enabled"):
		busy = "utilisation n/a (MIG): NVML or an exporter shows the instances"
	case !r.Busy.OK:
		busy = "utilisation not supported here"
	}
	if !r.Power.OK {
		power = "power not supported here"
	}
	return gpu.Join(busy, power)
}

// sharedMemory fills in the host's memory where the driver does not report its own.
func (s *Reader) sharedMemory(r *gpu.Reading, cells map[string]string) string {
	if r.MemTotal.OK || cells["memory.total"] == "" {
		return ""
	}
	if note := nvml.ShareMemory(r, s.machine.Memory); note != "" {
		return note
	}
	return "memory not supported here"
}

// unreachable is a GPU of which only the PCI address is known, and what it was
// called before.
func (s *Reader) unreachable(address, why string, position int) gpu.Reading {
	known, ok := s.names[pciKey(address)]
	if !ok {
		known.ID, known.Index = s.machine.Name()+"/"+gpu.Clean(address), position
	}
	r := gpu.Reading{ID: known.ID, Index: known.Index, Name: known.Name, Source: gpu.SourceSMI, Lost: true}
	if r.Note = nvml.CodeGPUIsLost.Error(); !strings.Contains(strings.ToLower(why), "lost") {
		r.Note = "GPU lost: " + strings.ToLower(strings.TrimSuffix(gpu.Clean(strings.TrimSpace(why)), "."))
	}
	return r
}

// identityFields are known of a GPU that answers nothing, too.
var identityFields = []string{"uuid", "index", "name", "pci.bus_id"}

// isLost: the driver says so, or has nothing but errors for this GPU.
func isLost(cells map[string]string) bool {
	values, broken := 0, 0
	for field, v := range cells {
		switch lower := strings.ToLower(v); {
		case strings.Contains(lower, "gpu is lost"), strings.Contains(lower, "requires reset"):
			return true
		case slices.Contains(identityFields, field):
		default:
			values++
			if strings.Contains(lower, "unknown error") {
				broken++
			}
		}
	}
	return values > 1 && broken == values
}

// textValue is a value that is a text; what stands in brackets is the reason why
// there is none.
func textValue(v string) string {
	if strings.HasPrefix(v, "[") || v == "N/A" {
		return ""
	}
	return gpu.Clean(v)
}

// numberValue is unknown for "[N/A]", "[Not Supported]", "[Unknown Error]",
// "[Insufficient Permissions]" and whatever else is not a number.
func numberValue(v string) opt.Float {
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || x < 0 {
		return opt.Float{}
	}
	return opt.Of(x)
}

// maskValue is a mask such as 0x0000000000000004.
func maskValue(v string) opt.Float {
	digits, ok := strings.CutPrefix(v, "0x")
	mask, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return opt.Float{}
	}
	return opt.Of(float64(mask & 0xffffffff))
}

// pciKey is an address without its domain, which is written with four or with
// eight digits.
func pciKey(address string) string {
	if i := strings.IndexByte(address, ':'); i >= 0 && strings.Count(address, ":") > 1 {
		address = address[i+1:]
	}
	return strings.ToLower(address)
}
