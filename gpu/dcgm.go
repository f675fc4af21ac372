package gpu

import (
	"maps"
	"slices"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/prom"
)

const dcgmPrefix = "DCGM_"

// isDCGM accepts the families of dcgm-exporter, also in the lower case of its
// first versions.
func isDCGM(family string) bool {
	return len(family) >= len(dcgmPrefix) && strings.EqualFold(family[:len(dcgmPrefix)], dcgmPrefix)
}

// dcgmPage is what a page says, sorted out by device.
type dcgmPage struct {
	rows      map[string]*dcgmRow
	profiling bool               // it has any DCGM_FI_PROF family
	published map[dcgmField]bool // some row has a value
}

// readDCGM turns a page into readings, a MIG instance behind its GPU. hostMemory
// is nil unless the page is about this machine.
func readDCGM(page prom.Page, hostMemory func() (used, total uint64, ok bool)) []Reading {
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
	readings := make([]Reading, 0, len(rows))
	for _, row := range rows {
		r := row.reading()
		memoryNote := shareHostMemory(&r, hostMemory)
		r.Note = joinNotes(xidFault(row.xid, row.xidText, r.Lost), slowedBy(row.values[dcgmClockReasons]), p.missing(row, r), memoryNote)
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

// missing says why SM or DRAM activity is not there.
func (p *dcgmPage) missing(row *dcgmRow, r Reading) string {
	switch {
	case r.Lost:
		return ""
	case row.partitioned:
		return "utilisation n/a (MIG); SM and DRAM: see the MIG instances"
	case !p.profiling:
		return "this exporter gives no profiling metrics: check SYS_ADMIN, the GPU model, and the counters file"
	case !r.SM.OK && !r.DRAM.OK && !r.Tensor.OK:
		return "SM and DRAM: the exporter has no profiling values for this GPU"
	}
	return joinNotes(p.absent("SM", "DCGM_FI_PROF_SM_ACTIVE", r.SM, dcgmSM),
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
