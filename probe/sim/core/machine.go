package core

import (
	"fmt"
	"time"

	"sonde/probe/roofline"
)

// Machine is one or more GPUs that run a model together.
type Machine struct {
	board
	name  string
	GPUs  int            // that share the model
	Peaks roofline.Peaks // bandwidth and FLOP/s of all of them, memory of each
	Clock float64        // of the SMs, share of the full one

	// Attainable shares of the peaks. Streaming kernels reach about 0.8 of the
	// bandwidth. Large matrix products reach 0.8 of the arithmetic, a whole
	// prefill with its smaller kernels about 0.6.
	bandwidthShare float64
	flopsShare     float64

	overhead       time.Duration // per iteration: scheduling, launches, sampling
	overheadPerSeq time.Duration // per sequence in it
}

// board is a GPU beyond its peaks, which are those of package roofline under its name.
type board struct {
	DriverName string  // as the driver spells it, without the vendor
	link       link    // to other GPUs
	idleWatts  float64 // a round figure
	MaxWatts   float64 // board power limit
	ClockMHz   float64 // of the SMs, full
}

// link is how a GPU reaches the others. The share of its bandwidth that reductions
// attain is about 0.8.
type link struct {
	bandwidth float64       // bytes/s in each direction, of one GPU
	latency   time.Duration // of an all-reduce of almost nothing
}

const linkShare = 0.8

// NVLink of four generations and PCIe of two, 16 lanes.
var (
	nvlink3 = link{300e9, 10 * time.Microsecond}
	nvlink4 = link{450e9, 10 * time.Microsecond}
	nvlink5 = link{900e9, 10 * time.Microsecond}
	pcie4   = link{32e9, 25 * time.Microsecond}
	pcie5   = link{64e9, 25 * time.Microsecond}
)

// streamingShare is the bandwidthShare at the full clock.
const streamingShare = 0.8

var boards = []named[board]{
	{"A100-80GB", board{"A100-SXM4-80GB", nvlink3, 60, 400, 1410}},
	{"A100-40GB", board{"A100-SXM4-40GB", nvlink3, 50, 400, 1410}},
	{"H100", board{"H100 80GB HBM3", nvlink4, 70, 700, 1980}},
	{"H200", board{"H200", nvlink4, 75, 700, 1980}},
	{"B200", board{"B200", nvlink5, 140, 1000, 1965}},
	{"L40S", board{"L40S", pcie4, 35, 350, 2520}},
	{"L4", board{"L4", pcie4, 16, 72, 2040}},
	{"A10G", board{"A10G", pcie4, 20, 300, 1710}},
	{"RTX-3090", board{"GeForce RTX 3090", pcie4, 25, 350, 1695}},
	{"RTX-4090", board{"GeForce RTX 4090", pcie4, 20, 450, 2520}},
	{"RTX-5090", board{"GeForce RTX 5090", pcie5, 30, 575, 2407}},
}

func machineNamed(name string) (Machine, error) {
	b, err := lookup("GPU", name, boards)
	if err != nil {
		return Machine{}, err
	}
	peaks, known := roofline.PeaksFor("NVIDIA " + b.value.DriverName)
	if !known {
		return Machine{}, fmt.Errorf("simulated engine: the peaks of %s are unknown", b.name)
	}
	return Machine{
		board: b.value, name: b.name, GPUs: 1, Peaks: peaks, Clock: 1,
		bandwidthShare: streamingShare, flopsShare: 0.6,
		overhead: 600 * time.Microsecond, overheadPerSeq: 8 * time.Microsecond,
	}, nil
}

// times is n of these GPUs in tensor parallel: n times the peaks.
func (m Machine) times(n int) Machine {
	m.GPUs = n
	m.Peaks.Bandwidth *= float64(n)
	m.scaleFLOPs(float64(n))
	return m
}

func (m *Machine) scaleFLOPs(by float64) {
	m.Peaks.BF16 *= by
	m.Peaks.FP8 = m.Peaks.FP8.Scale(by)
}

// at is the machine with its SM clock at a share of the full one. The arithmetic
// slows down with it. Memory has a clock of its own, but below about 0.6 of their clock
// SMs no longer request all that it could deliver.
func (m Machine) at(clock float64) Machine {
	const clockForBandwidth = 0.6
	m.Clock = clock
	m.scaleFLOPs(clock)
	m.bandwidthShare *= min(1, clock/clockForBandwidth)
	return m
}

// kvReplicas is how often the KV cache is held: its heads are spread over the GPUs
// until there are none left to spread, then copied.
func (m *Machine) kvReplicas(served *Model) float64 {
	return max(1, float64(m.GPUs)/float64(max(1, served.KVHeads)))
}

// allReduces is the time that the GPUs of a tensor parallel group spend adding up
// their partial results for n tokens: twice in every layer, after attention and
// after the MLP (Megatron-LM, arXiv 1909.08053). A ring moves 2·(g−1)/g of the
// n·hidden·2 bytes out of each of g GPUs (NCCL's "bus bandwidth").
func (m *Machine) allReduces(served *Model, n int) time.Duration {
	if m.GPUs == 1 {
		return 0
	}
	const bytesPerElement = 2
	g := float64(m.GPUs)
	moved := 2 * (g - 1) / g * float64(n*served.Hidden*bytesPerElement)
	one := seconds(moved/(m.link.bandwidth*linkShare)) + m.link.latency
	return time.Duration(2*served.Layers) * one
}
