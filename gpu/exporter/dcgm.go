package exporter

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/gpu/common"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

const dcgmPrefix = "DCGM_"

// isDCGM accepts the families of dcgm-exporter, also in the lower case of its
// first versions.
func isDCGM(family string) bool {
	return len(family) >= len(dcgmPrefix) && strings.EqualFold(family[:len(dcgmPrefix)], dcgmPrefix)
}

// dcgmPage is a page sorted by device.
type dcgmPage struct {
	rows      map[string]*dcgmRow
	profiling bool               // it has any DCGM_FI_PROF family
	published map[dcgmField]bool // some row has a value
}

// readDCGM turns a page into readings, a MIG instance behind its GPU. hostMemory
// is nil unless the page is about this machine.
func readDCGM(page prom.Page, hostMemory common.HostMemory) []gpu.Reading {
	p := dcgmPage{rows: map[string]*dcgmRow{}, published: map[dcgmField]bool{}}
	for _, family := range page.Names() {
		if !isDCGM(family) {
			continue
		}
		name := strings.ToUpper(family)
		p.profiling = p.profiling || strings.HasPrefix(name, "DCGM_FI_PROF_")
		for _, s := range page.Samples(family) {
			p.add(name, s)
		}
	}
	p.addParents()
	rows := slices.SortedFunc(maps.Values(p.rows), compareRows)
	readings := make([]gpu.Reading, 0, len(rows))
	for _, row := range rows {
		r := row.reading()
		memoryNote := common.ShareMemory(&r, hostMemory)
		r.Note = common.Join(common.XidNote(row.xid, row.xidText, r.Lost), common.SlowNote(row.values[dcgmClockReasons]), p.missing(row, r), memoryNote)
		readings = append(readings, r)
	}
	return readings
}

// add files a sample under its device. Any family makes a device known, also one
// whose values are not used here.
func (p *dcgmPage) add(name string, s prom.Sample) {
	uuid, index := label(s, "UUID", "uuid", "gpu_uuid"), label(s, "gpu")
	if uuid == "" && index == "" {
		return // a switch or a CPU
	}
	row := newDCGMRow(s, uuid, index)
	if known := p.rows[row.id()]; known != nil {
		row = known
	}
	p.rows[row.id()] = row
	if xidFamilies[name] && !isBlank(s.Value) {
		row.xid, row.xidText = int(s.Value), label(s, "err_msg")
	}
	field, used := dcgmFamilies[name]
	if !used || isBlank(s.Value) || s.Value < 0 {
		return
	}
	p.published[field] = true
	if !row.values[field].OK {
		row.values[field] = opt.Of(s.Value)
	}
}

// addParents gives partitioned GPUs a row of their own. What the exporter repeats
// for each instance is the parent's: it is taken once.
func (p *dcgmPage) addParents() {
	for _, row := range slices.SortedFunc(maps.Values(p.rows), compareRows) {
		if row.instance == "" {
			continue
		}
		parent := p.rows[row.parentID()]
		if parent == nil {
			parent = &dcgmRow{uuid: row.uuid, host: row.host, index: row.index, name: row.name, values: map[dcgmField]opt.Float{}}
			p.rows[parent.id()] = parent
		}
		parent.partitioned = true
		for _, f := range boardFields {
			if !parent.values[f].OK {
				parent.values[f] = row.values[f]
			}
			delete(row.values, f)
		}
		if parent.xid == 0 {
			parent.xid, parent.xidText = row.xid, row.xidText
		}
		row.xid = 0
	}
}

var boardFields = []dcgmField{dcgmPower, dcgmPowerLimit, dcgmTemperature, dcgmClock, dcgmMemoryClock, dcgmClockReasons, dcgmPCIeSent, dcgmPCIeReceived}

// missing says why SM or DRAM activity is missing.
func (p *dcgmPage) missing(row *dcgmRow, r gpu.Reading) string {
	switch {
	case r.Lost:
		return ""
	case row.partitioned:
		return "utilisation n/a (MIG); SM and DRAM: see the MIG instances"
	case !p.profiling:
		return "this exporter has no profiling metrics: check SYS_ADMIN, the GPU model, and the counters file"
	case !r.SM.OK && !r.DRAM.OK && !r.Tensor.OK:
		return "SM and DRAM: the exporter has no profiling values for this GPU"
	}
	return common.Join(p.absent("SM", "DCGM_FI_PROF_SM_ACTIVE", r.SM, dcgmSM),
		p.absent("DRAM", "DCGM_FI_PROF_DRAM_ACTIVE", r.DRAM, dcgmDRAM))
}

func (p *dcgmPage) absent(what, family string, v opt.Float, field dcgmField) string {
	switch {
	case v.OK:
		return ""
	case p.published[field]:
		return what + ": no value for this GPU"
	}
	return what + ": add " + family + " to the exporter's counters file"
}

// dcgmRow is one device of a page.
type dcgmRow struct {
	uuid, host, index, name string
	instance, profile       string // MIG: GPU_I_ID and GPU_I_PROFILE
	partitioned             bool   // parent of MIG instances
	values                  map[dcgmField]opt.Float
	xid                     int
	xidText                 string
}

func newDCGMRow(s prom.Sample, uuid, index string) *dcgmRow {
	return &dcgmRow{
		uuid: uuid, index: index,
		host:     label(s, "Hostname", "hostname"),
		name:     label(s, "modelName", "model_name"),
		instance: label(s, "GPU_I_ID"),
		profile:  label(s, "GPU_I_PROFILE"),
		values:   map[dcgmField]opt.Float{},
	}
}

// label is the first of these labels that has a value, safe to be shown.
func label(s prom.Sample, names ...string) string {
	for _, n := range names {
		if v := s.Labels[n]; v != "" {
			return common.Clean(v)
		}
	}
	return ""
}

func (row *dcgmRow) parentID() string {
	if row.uuid != "" {
		return row.uuid
	}
	return row.host + "/" + row.index
}

func (row *dcgmRow) id() string {
	if row.instance == "" {
		return row.parentID()
	}
	return row.parentID() + "/" + row.instance
}

func compareRows(a, b *dcgmRow) int {
	return cmp.Or(
		cmp.Compare(a.host, b.host),
		cmp.Compare(common.Number(a.index), common.Number(b.index)),
		cmp.Compare(a.parentID(), b.parentID()),
		cmp.Compare(common.Number(a.instance), common.Number(b.instance)),
		cmp.Compare(a.instance, b.instance),
	)
}

func (row *dcgmRow) reading() gpu.Reading {
	v := row.values
	r := gpu.Reading{
		ID: row.id(), Index: max(0, common.Number(row.index)), Name: row.name, Source: "dcgm",
		SM: v[dcgmSM], DRAM: v[dcgmDRAM], Tensor: v[dcgmTensor], Busy: common.Ratio(v[dcgmBusy]),
		MemUsed: v[dcgmUsed].Scale(common.MiB), MemTotal: row.totalMiB().Scale(common.MiB),
		Power: common.Positive(v[dcgmPower]), PowerLimit: common.Positive(v[dcgmPowerLimit]),
		Temperature: v[dcgmTemperature], SMClock: v[dcgmClock].Scale(1e6), MemClock: v[dcgmMemoryClock].Scale(1e6),
		Occupancy: v[dcgmOccupancy], MemBusy: common.Ratio(v[dcgmMemoryBusy]),
		PCIeSent: v[dcgmPCIeSent], PCIeReceived: v[dcgmPCIeReceived],
		NVLinkSent: v[dcgmNVLinkSent], NVLinkReceived: v[dcgmNVLinkReceived],
		Lost: row.lost(),
	}
	switch {
	case row.instance != "":
		// Old exporters print a time share of 0 for busy instances.
		r.Parent, r.Busy, r.MemBusy = row.parentID(), v[dcgmEngine], opt.Float{}
		r.Name = joinName(row.name, row.profile)
	case row.partitioned:
		r.Busy, r.MemBusy = opt.Float{}, opt.Float{}
	case !r.Busy.OK:
		r.Busy = v[dcgmEngine]
	}
	return r
}

// joinName names an instance as the driver does: "NVIDIA H100 PCIe MIG 1g.10gb".
func joinName(name, profile string) string {
	if profile == "" {
		return name
	}
	return name + " MIG " + profile
}

// totalMiB is what the parts add up to: the total is not in the default list.
// Older exporters and MIG instances have no reserved part.
func (row *dcgmRow) totalMiB() opt.Float {
	used, free := row.values[dcgmUsed], row.values[dcgmFree]
	if total := row.values[dcgmTotal]; total.OK || !used.OK || !free.OK {
		return total
	}
	return opt.Of(used.V + free.V + row.values[dcgmReserved].Or(0))
}

// lost: a fault that needs a reset, and no other value of the GPU. With other values
// present it is an old fault, because the exporter never clears it.
func (row *dcgmRow) lost() bool { return common.NeedsReset(row.xid) && len(row.values) == 0 }
