package amdsmi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sonde/gpu"
	"sonde/probe/opt"
)

// device is what a tool printed about one GPU: numbers by the names that gpu.Reading.Fill
// knows for amd-smi, in its units.
type device struct {
	index  int
	name   string
	values map[string]opt.Float
}

func (r *Reader) reading(d device) gpu.Reading {
	reading := gpu.Reading{ID: fmt.Sprintf("%s/%d", r.machine.Name(), d.index), Index: d.index,
		Name: gpu.AMDName(gpu.Clean(cmp.Or(d.name, r.names[d.index]))), Source: gpu.SourceAMDSMI}
	reading.Fill(func(field string) opt.Float { return d.values[field] })
	reading.Note = "SM and DRAM: " + r.program + " has none; AMD's exporter has SM with the gpu_prof_ metrics"
	return reading
}

// document is the JSON object or list in a text that may have warnings around it.
func document(text string) (doc any) {
	at := strings.IndexAny(text, "{[")
	if at < 0 {
		return nil
	}
	if json.NewDecoder(strings.NewReader(text[at:])).Decode(&doc) != nil {
		return nil
	}
	return doc
}

// entries are the GPUs of a page of amd-smi: a list, which newer versions wrap.
func entries(text string) (all []map[string]any) {
	doc := document(text)
	if wrapped, ok := doc.(map[string]any); ok {
		doc = wrapped["gpu_data"]
	}
	list, _ := doc.([]any)
	for _, e := range list {
		if entry, ok := e.(map[string]any); ok {
			all = append(all, entry)
		}
	}
	return all
}

// at is the value at a path such as "usage.gfx_activity": a number, or an object with the
// number and its unit. "N/A" is unknown.
func at(entry map[string]any, path string) (v any) {
	v = entry
	for _, key := range strings.Split(path, ".") {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	if object, ok := v.(map[string]any); ok {
		v = object["value"]
	}
	return v
}

func number(v any) opt.Float {
	switch v := v.(type) {
	case float64:
		return opt.Of(v)
	case string:
		if x, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
			return opt.Of(x)
		}
	}
	return opt.Float{}
}

func parseAMDSMI(text string) (devices []device) {
	for i, entry := range entries(text) {
		d := device{index: int(number(entry["gpu"]).Or(float64(i))), values: map[string]opt.Float{}}
		for _, path := range gpu.Spellings(gpu.SourceAMDSMI) {
			d.values[path] = number(at(entry, path))
		}
		devices = append(devices, d)
	}
	return devices
}

func parseNames(text string) map[int]string {
	names := map[int]string{}
	for i, entry := range entries(text) {
		if name, ok := at(entry, "asic.market_name").(string); ok && name != "N/A" {
			names[int(number(entry["gpu"]).Or(float64(i)))] = name
		}
	}
	return names
}

// rocmNames are the keys of rocm-smi, which differ by generation, for amd-smi's names.
var rocmNames = map[string][]string{
	"usage.gfx_activity":   {"GPU use (%)"},
	"usage.umc_activity":   {"GPU Memory Read/Write Activity (%)"},
	"mem_usage.total_vram": {"VRAM Total Memory (B)"},
	"mem_usage.used_vram":  {"VRAM Total Used Memory (B)"},
	"power.socket_power":   {"Current Socket Graphics Package Power (W)", "Average Graphics Package Power (W)"},
	"temperature.hotspot":  {"Temperature (Sensor junction) (C)"},
	"temperature.edge":     {"Temperature (Sensor edge) (C)"},
}

func parseROCm(text string) (devices []device) {
	cards, _ := document(text).(map[string]any)
	for key, v := range cards {
		card, ok := v.(map[string]any)
		index, err := strconv.Atoi(strings.TrimPrefix(key, "card"))
		if !ok || err != nil || index < 0 { // "system"
			continue
		}
		d := device{index: index, values: map[string]opt.Float{}}
		for _, name := range []string{"Card Series", "Card series", "Card Model", "Card model"} {
			if text, ok := card[name].(string); ok && text != "N/A" && d.name == "" {
				d.name = text
			}
		}
		for name, keys := range rocmNames {
			for _, key := range keys {
				if x := number(card[key]); x.OK && !d.values[name].OK {
					d.values[name] = x
				}
			}
			if strings.HasPrefix(name, "mem_usage.") {
				d.values[name] = d.values[name].Scale(1.0 / (1 << 20))
			}
		}
		devices = append(devices, d)
	}
	slices.SortFunc(devices, func(a, b device) int { return cmp.Compare(a.index, b.index) })
	return devices
}
