package gpu

import (
	"cmp"
	"strconv"

	"sonde/probe/opt"
	"sonde/probe/prom"
)

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
			return clean(v)
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
		cmp.Compare(number(a.index), number(b.index)),
		cmp.Compare(a.parentID(), b.parentID()),
		cmp.Compare(number(a.instance), number(b.instance)),
		cmp.Compare(a.instance, b.instance),
	)
}

// number is the number of a GPU or of an instance, -1 if the label is empty.
func number(label string) int {
	n, err := strconv.Atoi(label)
	if err != nil {
		return -1
	}
	return n
}

func (row *dcgmRow) reading() Reading {
	v := row.values
	r := Reading{
		ID: row.id(), Index: max(0, number(row.index)), Name: row.name, Source: "dcgm",
		SM: v[dcgmSM], DRAM: v[dcgmDRAM], Tensor: v[dcgmTensor], Busy: ratio(v[dcgmBusy]),
		MemUsed: v[dcgmUsed].Scale(mib), MemTotal: row.totalMiB().Scale(mib),
		Power: positive(v[dcgmPower]), PowerLimit: positive(v[dcgmPowerLimit]),
		Temperature: v[dcgmTemperature], SMClock: v[dcgmClock].Scale(1e6), MemClock: v[dcgmMemoryClock].Scale(1e6),
		Occupancy: v[dcgmOccupancy], MemBusy: ratio(v[dcgmMemoryBusy]),
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

const mib = 1 << 20

// ratio turns per cent into a share.
func ratio(percent opt.Float) opt.Float {
	if !percent.OK {
		return percent
	}
	return opt.Of(percent.V / 100)
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
