package exporter

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/gpu/nvml"
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
	dcgmReserved = "DCGM_FI_DEV_FB_RESERVED"                                                      // MiB
	dcgmReasons  = []string{"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"}

	// dcgmXid is the last fault of a GPU; the value stays until the exporter restarts.
	dcgmXid = []string{"DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR", "DCGM_XID_ERRORS"}

	dcgmSM   = []string{"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO"}
	dcgmDRAM = []string{"DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO"}

	dcgmUsed = slices.Concat(gpu.Spellings(gpu.SourceDCGM), dcgmEngine, dcgmFree, dcgmReasons)

	// dcgmOfInstance are the families whose values are those of a MIG instance. The
	// exporter repeats all others for each instance, although they are the whole GPU's.
	dcgmOfInstance = regexp.MustCompile(`_PROF_(SM|DRAM|TENSOR|PIPE|GR)_|_FB_`)
)

// dcgmID is the GPU's UUID, or its host and number, with the MIG instance. A switch and
// a CPU have none.
func dcgmID(labels map[string]string) (whole, part string) {
	uuid, index := label(labels, "UUID", "uuid", "gpu_uuid"), label(labels, "gpu")
	if uuid == "" && index == "" {
		return "", ""
	}
	return cmp.Or(uuid, label(labels, hostLabels...)+"/"+index), label(labels, "GPU_I_ID")
}

func readDCGM(p prom.Page, d *device, host nvml.HostMemory) gpu.Reading {
	r := d.reading(gpu.SourceDCGM, d.label("modelName", "model_name"), number(d.label("gpu")))
	if free := d.first(dcgmFree...); !r.MemTotal.OK && r.MemUsed.OK && free.OK {
		// The total is not in the default list. Older exporters and MIG instances have
		// no reserved part.
		r.MemTotal = opt.Of(r.MemUsed.V + (free.V+d.first(dcgmReserved).Or(0))*(1<<20))
	}
	switch engine := d.first(dcgmEngine...); {
	case len(d.parts) > 0:
		r.Busy, r.MemBusy = opt.Float{}, opt.Float{} // old exporters print 0 for busy instances
	case !r.Busy.OK:
		r.Busy = engine
	}
	xid := int(d.first(dcgmXid...).V)
	// A GPU whose fault needs a reset is lost if it has no other value. With other
	// values it is an old fault, because the exporter never clears it.
	silent := func(d *device) bool { return !d.first(dcgmUsed...).OK }
	r.Lost = gpu.NeedsReset(xid) && silent(d) && !slices.ContainsFunc(d.parts, func(part *device) bool { return !silent(part) })
	memoryNote := nvml.ShareMemory(&r, host)
	r.Note = gpu.Join(gpu.XidNote(xid, d.label("err_msg"), r.Lost), r.SlowedBy(d.first(dcgmReasons...)), dcgmMissing(p, d, r), memoryNote)
	return r
}

// dcgmMissing says why SM or DRAM activity is missing.
func dcgmMissing(p prom.Page, d *device, r gpu.Reading) string {
	switch {
	case r.Lost:
		return ""
	case len(d.parts) > 0:
		return "utilisation n/a (MIG); SM and DRAM: see the MIG instances"
	case !p.Has("DCGM_FI_PROF_"):
		return "this exporter has no profiling metrics: check SYS_ADMIN, the GPU model, and the counters file"
	case !r.SM.OK && !r.DRAM.OK && !r.Tensor.OK:
		return "SM and DRAM: the exporter has no profiling values for this GPU"
	}
	absent := func(what string, v opt.Float, families []string) string {
		switch {
		case v.OK:
			return ""
		case slices.ContainsFunc(families, p.Has):
			return what + ": no value for this GPU"
		}
		return what + ": add " + families[0] + " to the exporter's counters file"
	}
	return gpu.Join(absent("SM", r.SM, dcgmSM), absent("DRAM", r.DRAM, dcgmDRAM))
}
