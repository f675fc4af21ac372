package exporter

import (
	"bytes"
	"strings"

	"sonde/gpu"
	"sonde/gpu/common"
	"sonde/probe/prom"
)

// pageFormat is one kind of exporter: its families, and what they say.
type pageFormat struct {
	name   string                   // as it stands in Status.Source
	has    func(family string) bool // whether the family is one of this kind
	read   func(p prom.Page, hostMemory common.HostMemory) []gpu.Reading
	faster string // how to make it collect more often; "" if it collects when it is asked
}

// pageFormats are tried in this order: a page of DCGM tells most.
var pageFormats = []pageFormat{
	{name: "dcgm", has: isDCGM, read: readDCGM, faster: "its option -c 1000 makes that 1 s"},
	{name: "nvidia_gpu_exporter", has: isNvidiaExporter, read: readNvidiaExporter},
	{name: "amd", has: isAMD, read: readAMD},
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
	labels map[string]string // of the first sample that named the device
	values map[string]float64
}

// collectDevices files the samples of a page by device. family gives the name that
// the tables use, device the identity, "" for what belongs to none. Blanks are left
// out; of a value that comes twice the first one counts.
func collectDevices(p prom.Page, family func(string) (string, bool), device func(name string, labels map[string]string) string) map[string]*exported {
	found := map[string]*exported{}
	for _, published := range p.Names() {
		name, known := family(published)
		if !known {
			continue
		}
		for _, s := range p.Samples(published) {
			id := device(name, s.Labels)
			if id == "" || isBlank(s.Value) {
				continue
			}
			if found[id] == nil {
				found[id] = &exported{labels: s.Labels, values: map[string]float64{}}
			}
			if _, again := found[id].values[name]; !again {
				found[id].values[name] = s.Value
			}
		}
	}
	return found
}

// hasFamily matches a family by its last words: exporters may be told to put a
// word of their own in front.
func hasFamily(published, family string) bool {
	rest, ok := strings.CutSuffix(published, family)
	return ok && (rest == "" || strings.HasSuffix(rest, "_"))
}
