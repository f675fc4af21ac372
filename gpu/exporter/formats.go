package exporter

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// pageFormat is one kind of exporter.
type pageFormat struct {
	name     string                                              // as in Status.Source
	family   func(published string) string                       // the name that the tables use for a family; "" if it is another kind's
	identity func(labels map[string]string) (whole, part string) // of the device that a sample is about; "" for none
	ofPart   func(family string) bool                            // the values are those of the part; nil: all of them
	read     func(prom.Page, *device, nvml.HostMemory) gpu.Reading
	faster   string // how to make it collect more often; "" if it collects at each request
}

// pageFormats are tried in this order: a page of DCGM has the most.
var pageFormats = []pageFormat{
	{name: gpu.SourceDCGM, family: dcgmFamily, identity: dcgmID, ofPart: dcgmOfInstance.MatchString, read: readDCGM, faster: "its option -c 1000 makes that 1 s"},
	{name: gpu.SourceNVIDIAExporter, family: nvidiaFamily, identity: nvidiaID, read: readNvidia},
	{name: gpu.SourceAMD, family: amdFamily, identity: amdID, read: readAMD},
}

// isGPUFamily reports whether any of the formats reads a family.
func isGPUFamily(published string) bool {
	return slices.ContainsFunc(pageFormats, func(f pageFormat) bool { return f.family(published) != "" })
}

// readPage reads what exporters wrote on a page of that moment, and returns which kinds they
// are. Of a GPU with two of them the first that lists it counts, which reports more.
func readPage(p prom.Page, at time.Time, host nvml.HostMemory, h *past) (kinds []pageFormat, gpus []gpu.Reading) {
	seen := map[string]bool{}
	for _, f := range pageFormats {
		found := slices.DeleteFunc(f.readings(p, at, host, h), func(r gpu.Reading) bool { return seen[r.ID] })
		if len(found) > 0 {
			kinds = append(kinds, f)
		}
		for i := range found {
			seen[found[i].ID] = true
		}
		gpus = append(gpus, found...)
	}
	h.learn(gpu.Newest(gpus))
	return kinds, gpus
}

// namesOf are the names of exporters in Status.Source.
func namesOf(kinds []pageFormat) string {
	var names []string
	for _, f := range kinds {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// readings are the GPUs of a page, by host and number, each before its parts.
// host is nil unless the page is about this machine.
func (f pageFormat) readings(p prom.Page, at time.Time, host nvml.HostMemory, h *past) []gpu.Reading {
	var readings []gpu.Reading
	devices := f.devices(p)
	notes := h.settle(f, p, devices)
	for _, d := range devices {
		r := f.read(p, d, host)
		r.At = h.taken(f, d, at, r.Works())
		r.Note = gpu.Join(notes[d], r.Note)
		if notes[d] == noteUnit {
			r.Doubts |= gpu.DoubtUnit
		}
		readings = append(readings, r)
	}
	slices.SortFunc(readings, func(a, b gpu.Reading) int {
		return cmp.Or(
			cmp.Compare(a.Host, b.Host), cmp.Compare(a.Index, b.Index),
			cmp.Compare(cmp.Or(a.Parent, a.ID), cmp.Or(b.Parent, b.ID)),
			cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID),
		)
	})
	return readings
}

// device is what a page says about one device.
type device struct {
	id     string
	whole  *device           // of which it is a part; nil if it is a whole one
	parts  []*device         // MIG instances
	labels map[string]string // of all its samples; the first of two values counts
	values map[string]float64
}

// devices sorts the samples of a page by device. A device that has only blanks is listed
// too.
func (f pageFormat) devices(p prom.Page) map[string]*device {
	found := map[string]*device{}
	for _, published := range p.Names() {
		name := f.family(published)
		if name == "" {
			continue
		}
		for _, s := range p.Samples(published) {
			id, part := f.identity(s.Labels)
			if id == "" {
				continue
			}
			d := found[id].with(id, nil, s.Labels)
			found[id] = d
			if part != "" {
				id += "/" + part
				found[id] = found[id].with(id, d, s.Labels)
				if f.ofPart == nil || f.ofPart(name) {
					d = found[id]
				}
			}
			d.add(name, s)
		}
	}
	return found
}

// with is the device with further labels. It is new if d is nil.
func (d *device) with(id string, whole *device, labels map[string]string) *device {
	if d == nil {
		d = &device{id: id, whole: whole, labels: map[string]string{}, values: map[string]float64{}}
		if whole != nil {
			whole.parts = append(whole.parts, d)
		}
	}
	for k, v := range labels {
		if d.labels[k] == "" {
			d.labels[k] = v
		}
	}
	return d
}

// add takes a sample. The first of two values of the same name counts.
func (d *device) add(name string, s prom.Sample) {
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

// board is the whole GPU that a device is, or is a part of.
func (d *device) board() *device { return cmp.Or(d.whole, d) }

// reading begins the reading of a device with what all formats have. An instance is
// named as the driver does: "NVIDIA H100 PCIe MIG 1g.10gb".
func (d *device) reading(source, name string, index int) gpu.Reading {
	r := gpu.Reading{ID: d.id, Index: max(0, index), Name: name, Source: source,
		Host: d.label(hostLabels...), Exporter: d.label("instance")}
	if len(d.parts) == 0 { // else each part may be given to another pod
		r.Pod = d.label("pod")
	}
	if d.whole != nil {
		r.Parent = d.whole.id
		if profile := d.label("GPU_I_PROFILE", "profile"); profile != "" {
			r.Name += " MIG " + profile
		}
	}
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
			return gpu.Clean(v)
		}
	}
	return ""
}

// number is the number that a label holds, -1 if it is none.
func number(label string) int {
	n, err := strconv.Atoi(label)
	if err != nil {
		return -1
	}
	return n
}
