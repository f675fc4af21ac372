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

// dcgmFamily accepts the families of dcgm-exporter, also in the lower case of its
// first versions.
func dcgmFamily(published string) string {
	if len(published) < len(dcgmPrefix) || !strings.EqualFold(published[:len(dcgmPrefix)], dcgmPrefix) {
		return ""
	}
	return strings.ToUpper(published)
}

// Families besides those of gpu.Spellings: names before and since DCGM 4.6, and of the
// exporter's 1.x. Kind and unit belong to the quantity: the TYPE line is whatever the
// counters file says.
var (
	dcgmEngine   = []string{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO"} // graphics or compute engine active: a share of time
	dcgmFree     = []string{"DCGM_FI_DEV_FB_FREE", "DCGM_FB_FREE"}                                // MiB
	dcgmReserved = []string{"DCGM_FI_DEV_FB_RESERVED"}                                            // MiB
	dcgmReasons  = []string{"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"}

	// dcgmXid is the last fault of a GPU; the value stays until the exporter restarts.
	dcgmXid = []string{"DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR", "DCGM_XID_ERRORS"}

	dcgmSM   = []string{"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO"}
	dcgmDRAM = []string{"DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO"}

	dcgmUsed = slices.Concat(gpu.Spellings(gpu.SourceDCGM), dcgmEngine, dcgmFree, dcgmReserved, dcgmReasons)
)

// readDCGM turns a page into readings, of MIG instances too.
func readDCGM(page prom.Page, devices map[string]*device, hostMemory common.HostMemory) []gpu.Reading {
	p := dcgmPage{rows: map[string]*dcgmRow{}}
	for id, d := range devices {
		p.rows[id] = newDCGMRow(d)
	}
	p.profiling = slices.ContainsFunc(page.Names(), func(f string) bool { return strings.HasPrefix(strings.ToUpper(f), "DCGM_FI_PROF_") })
	p.addParents()
	readings := make([]gpu.Reading, 0, len(p.rows))
	for _, row := range p.rows {
		r := row.Reading
		// A fault that needs a reset, and no other value of the GPU. With other values
		// present it is an old fault, because the exporter never clears it.
		r.Lost = row.silent && common.NeedsReset(row.xid)
		memoryNote := common.ShareMemory(&r, hostMemory)
		r.Note = common.Join(common.XidNote(row.xid, row.xidText, r.Lost), common.SlowNote(row.reasons), p.missing(row, r), memoryNote)
		readings = append(readings, r)
	}
	return readings
}

// dcgmPage is a page sorted by device.
type dcgmPage struct {
	rows      map[string]*dcgmRow
	profiling bool // it has any DCGM_FI_PROF family
}

// dcgmRow is one device of a page.
type dcgmRow struct {
	gpu.Reading
	device      *device
	partitioned bool      // parent of MIG instances
	silent      bool      // no value that is used here
	reasons     opt.Float // mask of what holds the clocks down
	xid         int
	xidText     string
}

// dcgmID is the GPU's UUID, or its host and number, with the MIG instance. A switch and
// a CPU have none.
func dcgmID(_ string, labels map[string]string) string {
	uuid, index := label(labels, "UUID", "uuid", "gpu_uuid"), label(labels, "gpu")
	if uuid == "" && index == "" {
		return ""
	}
	return joinID(cmp.Or(uuid, label(labels, hostLabels...)+"/"+index), label(labels, "GPU_I_ID"))
}

func newDCGMRow(d *device) *dcgmRow {
	row := &dcgmRow{device: d, silent: !d.first(dcgmUsed...).OK, reasons: d.first(dcgmReasons...), xid: int(d.first(dcgmXid...).V), xidText: d.label("err_msg")}
	row.Reading = d.reading(gpu.SourceDCGM, d.label("modelName", "model_name"), d.number("gpu"))
	r := &row.Reading
	if free := d.first(dcgmFree...); !r.MemTotal.OK && r.MemUsed.OK && free.OK {
		// The total is not in the default list. Older exporters and MIG instances have
		// no reserved part.
		r.MemTotal = opt.Of(r.MemUsed.V + (free.V+d.first(dcgmReserved...).Or(0))*common.MiB)
	}
	instance := d.label("GPU_I_ID")
	switch {
	case instance != "":
		// Old exporters print a time share of 0 for busy instances.
		r.Parent, r.Busy, r.MemBusy = strings.TrimSuffix(d.id, "/"+instance), d.first(dcgmEngine...), opt.Float{}
		r.Name = joinName(r.Name, d.label("GPU_I_PROFILE"))
	case !r.Busy.OK:
		r.Busy = d.first(dcgmEngine...)
	}
	return row
}

// addParents gives partitioned GPUs a row of their own. What the exporter repeats
// for each instance is the parent's: it is taken once.
func (p *dcgmPage) addParents() {
	for _, id := range slices.Sorted(maps.Keys(p.rows)) {
		row := p.rows[id]
		if row.Parent == "" {
			continue
		}
		parent := p.rows[row.Parent]
		if parent == nil {
			labels := maps.Clone(row.device.labels)
			maps.DeleteFunc(labels, func(name, _ string) bool { return name == "GPU_I_ID" || name == "pod" })
			parent = newDCGMRow(&device{id: row.Parent, labels: labels})
			p.rows[row.Parent] = parent
		}
		parent.partitioned, parent.silent = true, parent.silent && row.silent
		parent.Busy, parent.MemBusy = opt.Float{}, opt.Float{}
		of, to := row.board(), parent.board()
		for i := range of {
			if !to[i].OK {
				*to[i] = *of[i]
			}
			*of[i] = opt.Float{}
		}
		if parent.xid == 0 {
			parent.xid, parent.xidText = row.xid, row.xidText
		}
		row.xid = 0
	}
}

// board is what only a whole GPU has.
func (row *dcgmRow) board() []*opt.Float {
	return []*opt.Float{&row.Power, &row.PowerLimit, &row.Temperature, &row.SMClock, &row.MemClock, &row.PCIeSent, &row.PCIeReceived, &row.reasons}
}

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
	return common.Join(p.absent("SM", r.SM, dcgmSM), p.absent("DRAM", r.DRAM, dcgmDRAM))
}

func (p *dcgmPage) absent(what string, v opt.Float, families []string) string {
	if v.OK {
		return ""
	}
	for _, row := range p.rows {
		if row.device.first(families...).OK {
			return what + ": no value for this GPU"
		}
	}
	return what + ": add " + families[0] + " to the exporter's counters file"
}
