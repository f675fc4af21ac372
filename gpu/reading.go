// Package gpu reads what the hardware says: SM activity, memory bandwidth,
// power and memory of each GPU, from NVML or from an exporter's page.
package gpu

import (
	"time"

	"sonde/probe/opt"
)

// Reading is one device at one moment. Ratios are 0 to 1, memory is bytes,
// power is watts; whatever a source cannot tell stays unknown. Ratios are kept
// as reported and can be a little above 1: drawing clamps them.
type Reading struct {
	ID    string // UUID, with the instance for MIG; else host and index
	Index int
	Name  string // as the driver spells it

	SM     opt.Float // SM activity (not "GPU utilisation")
	DRAM   opt.Float // share of the memory bandwidth peak
	Tensor opt.Float
	Busy   opt.Float // share of time in which any kernel ran: the coarse "utilisation"

	Occupancy opt.Float // warps that live on the SMs, of those that could
	MemBusy   opt.Float // share of time in which memory was read or written: not its bandwidth

	MemUsed, MemTotal opt.Float
	MemShared         bool // the memory is the system's, shared with the CPU
	Power, PowerLimit opt.Float
	Temperature       opt.Float // °C
	SMClock, MemClock opt.Float // Hz

	// Traffic of the whole device in bytes/s; sent is what left it.
	PCIeSent, PCIeReceived     opt.Float
	NVLinkSent, NVLinkReceived opt.Float

	Source string // "nvml-gpm", "nvml", "nvidia-smi", "dcgm", "nvidia_gpu_exporter", "amd", …
	Note   string // why something is missing, for people; "" if nothing is

	Parent string // ID of the GPU that this MIG instance is a part of; "" for a whole GPU
	Lost   bool   // the GPU fell off the bus or needs a reset

	// Where it is, as the labels of a Prometheus server tell; "" if they do not.
	Host     string // its machine
	Exporter string // address that was scraped
	Pod      string // that it is given to

	// BandwidthPeak is the source's own theoretical memory bandwidth, bytes/s: from
	// bus width and memory clock (NVML), or as told (AMD); see Reading.Bandwidth.
	BandwidthPeak opt.Float
}

// Status is the newest set of readings, as a source publishes it.
type Status struct {
	At     time.Time // when the values were taken
	GPUs   []Reading
	Source string // "nvml", "nvidia-smi", "dcgm http://…"; "" if there is none
	Why    string // why there are no readings, or no newer ones

	// Scope says of which of the GPUs that were read these are, while one replica of
	// the engine is looked at; "" = all of them, because all replicas are.
	Scope string

	// Period is how often values change: an age above three periods is a stall.
	// 0 until it is known.
	Period time.Duration
}
