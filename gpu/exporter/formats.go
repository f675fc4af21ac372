package exporter

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/gpu/common"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// pageFormat is one kind of exporter.
type pageFormat struct {
	name     string                                             // as in Status.Source
	family   func(published string) string                      // the name that the tables use for a family; "" if it is another kind's
	identity func(name string, labels map[string]string) string // of the device that a sample is about; "" for none
	read     func(p prom.Page, devices map[string]*device, hostMemory common.HostMemory) []gpu.Reading
	faster   string // how to make it collect more often; "" if it collects at each request
}

// pageFormats are tried in this order: a page of DCGM has the most.
var pageFormats = []pageFormat{
	{name: gpu.SourceDCGM, family: dcgmFamily, identity: dcgmID, read: readDCGM, faster: "its option -c 1000 makes that 1 s"},
	{name: gpu.SourceNVIDIAExporter, family: nvidiaFamily, identity: nvidiaID, read: readNvidiaExporter},
	{name: gpu.SourceAMD, family: amdFamily, identity: amdID, read: readAMD},
}

// isGPUFamily reports whether any of the formats reads a family.
func isGPUFamily(published string) bool {
	return slices.ContainsFunc(pageFormats, func(f pageFormat) bool { return f.family(published) != "" })
}

// readPage finds out which exporter wrote a page and reads it. It returns no readings
// if the page has no GPU of any format. They do not say where the GPUs are: only the
// labels of a Prometheus server can be compared with those of the engine.
func readPage(p prom.Page, hostMemory common.HostMemory) (pageFormat, []gpu.Reading) {
	for _, f := range pageFormats {
		if readings := f.readings(p, hostMemory); len(readings) > 0 {
			for i := range readings {
				readings[i].Host, readings[i].Exporter, readings[i].Pod = "", "", ""
			}
			return f, readings
		}
	}
	return pageFormat{}, nil
}

// readings are the GPUs of a page, by host and number, each before its parts.
// hostMemory is nil unless the page is about this machine.
func (f pageFormat) readings(p prom.Page, hostMemory common.HostMemory) []gpu.Reading {
	readings := f.read(p, f.devices(p), hostMemory)
	slices.SortFunc(readings, func(a, b gpu.Reading) int {
		return cmp.Or(
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.Index, b.Index),
			cmp.Compare(cmp.Or(a.Parent, a.ID), cmp.Or(b.Parent, b.ID)),
			cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID),
		)
	})
	return readings
}

// gpuLines are the lines of a page that any of the formats reads.
func gpuLines(body []byte) []byte {
	known := map[string]bool{"": false}
	var lines []byte
	for line := range bytes.Lines(body) {
		family := familyOf(line)
		yes, seen := known[family]
		if !seen {
			yes = isGPUFamily(family)
			known[family] = yes
		}
		if yes {
			lines = append(lines, line...)
		}
	}
	return lines
}

// familyOf is the name that a line of a page begins with; "" for comments.
func familyOf(line []byte) string {
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 || line[0] == '#' {
		return ""
	}
	return string(line[:end])
}

// device is what a page says about one device.
type device struct {
	id     string
	labels map[string]string // of all its samples; of two values the first counts
	values map[string]float64
}

// devices sorts the samples of a page by device. Blanks are skipped, but make their
// device known.
func (f pageFormat) devices(p prom.Page) map[string]*device {
	found := map[string]*device{}
	for _, published := range p.Names() {
		name := f.family(published)
		if name == "" {
			continue
		}
		for _, s := range p.Samples(published) {
			id := f.identity(name, s.Labels)
			if id == "" {
				continue
			}
			if found[id] == nil {
				found[id] = &device{id: id, labels: map[string]string{}, values: map[string]float64{}}
			}
			found[id].add(name, s)
		}
	}
	return found
}

// add takes a sample. Of a value that comes twice the first counts.
func (d *device) add(name string, s prom.Sample) {
	for k, v := range s.Labels {
		if d.labels[k] == "" {
			d.labels[k] = v
		}
	}
	kind := s.Labels["clock_type"] // AMD's: there are several clocks of a type, and the fastest counts
	if kind != "" {
		name += " " + strings.ToLower(kind)
	}
	if before, again := d.values[name]; !isBlank(s.Value) && (!again || kind != "" && s.Value > before) {
		d.values[name] = s.Value
	}
}

// first is the first of these values that the device has.
func (d *device) first(names ...string) opt.Float {
	for _, n := range names {
		if v, ok := d.values[n]; ok && v >= 0 {
			return opt.Of(v)
		}
	}
	return opt.Float{}
}

// label is the first of these labels that has a value, safe to show.
func (d *device) label(names ...string) string { return label(d.labels, names...) }

// number is the value of such a label; -1 if it is none.
func (d *device) number(names ...string) int { return common.Number(d.label(names...)) }

// reading begins the reading of a device with what all formats have.
func (d *device) reading(source, name string, index int) gpu.Reading {
	r := gpu.Reading{ID: d.id, Index: max(0, index), Name: name, Source: source,
		Host: d.label(hostLabels...), Exporter: d.label("instance"), Pod: d.label("pod")}
	r.Fill(func(spelling string) opt.Float { return d.first(spelling) })
	return r
}

var hostLabels = []string{"Hostname", "hostname"}

// isBlank recognises the values by which DCGM says "no data" (dcgm_fields.h:
// int32, double and int64 blanks), and what is not a number at all. As a float64 all
// int64 blanks are 2⁶³.
func isBlank(v float64) bool {
	return math.IsNaN(v) || math.IsInf(v, 0) ||
		v >= 2147483632 && v <= 2147483635 ||
		v >= 140737488355328 && v <= 140737488355331 ||
		v >= 1<<63
}

// label is the first of these labels that has a value, safe to show.
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

// joinName names an instance as the driver does: "NVIDIA H100 PCIe MIG 1g.10gb".
func joinName(name, profile string) string {
	if profile == "" {
		return name
	}
	return name + " MIG " + profile
}
