package exporter

import (
	"bytes"
	"math"
	"strings"

	"sonde/gpu"
	"sonde/gpu/common"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// pageFormat is one kind of exporter: its families, and what they say.
type pageFormat struct {
	name   string                   // as it stands in Status.Source
	has    func(family string) bool // whether the family is one of this kind
	read   func(p prom.Page, hostMemory common.HostMemory) []gpu.Reading
	faster string // how to make it collect more often; "" if it collects at each request
}

// pageFormats are tried in this order: a page of DCGM has the most.
var pageFormats = []pageFormat{
	{name: gpu.SourceDCGM, has: isDCGM, read: readDCGM, faster: "its option -c 1000 makes that 1 s"},
	{name: gpu.SourceNVIDIAExporter, has: isNvidiaExporter, read: readNvidiaExporter},
	{name: gpu.SourceAMD, has: isAMD, read: readAMD},
}

// isGPUFamily accepts what any of the formats reads.
func isGPUFamily(family string) bool {
	for i := range pageFormats {
		if pageFormats[i].has(family) {
			return true
		}
	}
	return false
}

// readPage finds out which exporter wrote a page and reads it; nil readings: no
// GPU of any format is on it.
func readPage(p prom.Page, hostMemory common.HostMemory) (pageFormat, []gpu.Reading) {
	for _, f := range pageFormats {
		if readings := f.read(p, hostMemory); len(readings) > 0 {
			return f, readings
		}
	}
	return pageFormat{}, nil
}

// familyOf is the name that a line of a page begins with; "" for comments.
func familyOf(line []byte) string {
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 || line[0] == '#' {
		return ""
	}
	return string(line[:end])
}

// exported gathers the values of one device from a page whose families mean one
// thing each.
type exported struct {
	labels map[string]string // of all its samples, the first one's before the others
	values map[string]float64
}

// collectDevices files the samples of a page by device. family gives the name that
// the tables use, device the identity, "" for what belongs to none. Blanks are
// skipped, but make their device known; of a value that comes twice the first one counts.
func collectDevices(p prom.Page, family func(string) (string, bool), device func(name string, labels map[string]string) string) map[string]*exported {
	found := map[string]*exported{}
	for _, published := range p.Names() {
		name, known := family(published)
		if !known {
			continue
		}
		for _, s := range p.Samples(published) {
			id := device(name, s.Labels)
			if id == "" {
				continue
			}
			if found[id] == nil {
				found[id] = &exported{labels: map[string]string{}, values: map[string]float64{}}
			}
			found[id].add(name, s)
		}
	}
	return found
}

func (d *exported) add(name string, s prom.Sample) {
	for k, v := range s.Labels {
		if d.labels[k] == "" {
			d.labels[k] = v
		}
	}
	if _, again := d.values[name]; !again && !isBlank(s.Value) {
		d.values[name] = s.Value
	}
}

// firstOf is the first of these values that the device has.
func firstOf(values map[string]float64, names ...string) opt.Float {
	for _, n := range names {
		if v, ok := values[n]; ok && v >= 0 {
			return opt.Of(v)
		}
	}
	return opt.Float{}
}

// isBlank recognises the values by which DCGM says "no data" (dcgm_fields.h:
// int32, double and int64 blanks), and what is not a number at all. As a float64 all
// int64 blanks are 2⁶³.
func isBlank(v float64) bool {
	return math.IsNaN(v) || math.IsInf(v, 0) ||
		v >= 2147483632 && v <= 2147483635 ||
		v >= 140737488355328 && v <= 140737488355331 ||
		v >= 1<<63
}

// label is the first of these labels that has a value, safe to be shown.
func label(labels map[string]string, names ...string) string {
	for _, n := range names {
		if v := labels[n]; v != "" {
			return common.Clean(v)
		}
	}
	return ""
}

// joinID adds a part of a device to its identity.
func joinID(device, part string) string {
	if part == "" {
		return device
	}
	return device + "/" + part
}

// hasFamily matches a family by its last words: exporters can be configured to put a
// word of their own in front.
func hasFamily(published, family string) bool {
	rest, ok := strings.CutSuffix(published, family)
	return ok && (rest == "" || strings.HasSuffix(rest, "_"))
}
