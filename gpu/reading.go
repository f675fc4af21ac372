// Package gpu holds what the hardware reports: SM activity, memory bandwidth, power
// and memory of each GPU. It is values only; gpu/watch reads them.
package gpu

import (
	"time"

	"sonde/probe/opt"
)

// Reading is one device at one moment. Ratios are 0 to 1, memory is bytes,
// power is watts; whatever a source does not report stays unknown, and so does what
// cannot be true: see Checked.
type Reading struct {
	ID    string `json:"id"` // UUID, with the instance for MIG; else host and index
	Index int    `json:"index"`
	Name  string `json:"name"` // as the driver spells it

	SM     opt.Float `json:"sm"`   // SM activity (not "GPU utilisation")
	DRAM   opt.Float `json:"dram"` // share of the memory bandwidth peak
	Tensor opt.Float `json:"tensor"`
	Busy   opt.Float `json:"busy"` // share of time in which any kernel ran: the coarse "utilisation"

	Occupancy opt.Float `json:"occupancy"` // warps that live on the SMs, of those that could
	MemBusy   opt.Float `json:"mem_busy"`  // share of time in which memory was read or written: not its bandwidth

	MemUsed     opt.Float `json:"mem_used_bytes"`
	MemTotal    opt.Float `json:"mem_total_bytes"`
	MemShared   bool      `json:"mem_shared,omitempty"` // the memory is the system's, shared with the CPU
	Power       opt.Float `json:"power_w"`
	PowerLimit  opt.Float `json:"power_limit_w"`
	Temperature opt.Float `json:"temperature_c"` // °C
	SMClock     opt.Float `json:"sm_clock_hz"`   // Hz
	MemClock    opt.Float `json:"mem_clock_hz"`
	Overheated  bool      `json:"overheated,omitempty"` // the driver holds the clocks down because of the temperature

	// Traffic of the whole device in bytes/s; sent is what left it.
	PCIeSent       opt.Float `json:"pcie_sent_bytes_per_s"`
	PCIeReceived   opt.Float `json:"pcie_received_bytes_per_s"`
	NVLinkSent     opt.Float `json:"nvlink_sent_bytes_per_s"`
	NVLinkReceived opt.Float `json:"nvlink_received_bytes_per_s"`

	Source string `json:"source"`         // one of the Source constants; see ViaPrometheus
	Note   string `json:"note,omitempty"` // why something is missing, for people; "" if nothing is

	Doubts Doubts `json:"doubts,omitempty"` // values that contradict each other: they are unknown here, and the note says so

	Parent string `json:"parent,omitempty"` // ID of the GPU that this MIG instance is a part of; "" for a whole GPU
	Lost   bool   `json:"lost,omitempty"`   // the GPU fell off the bus or needs a reset

	// At is when its values were last new, where the source repeats old ones; zero: when
	// the others of its Status were.
	At time.Time `json:"-"`

	// Where it is, from the labels of a Prometheus server; "" without.
	Host     string `json:"host,omitempty"`     // its machine
	Exporter string `json:"exporter,omitempty"` // address that was scraped
	Pod      string `json:"pod,omitempty"`      // that it is given to

	// BandwidthPeak is the source's own theoretical memory bandwidth, bytes/s: from
	// bus width and memory clock (NVML), or as reported (AMD).
	BandwidthPeak opt.Float `json:"bandwidth_peak_bytes_per_s"`
}
