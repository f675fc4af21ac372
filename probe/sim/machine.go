package sim

import "time"

// machine is one or more GPUs that run a model together. Peaks are of all of
// them; memory, link and watts are of each.
type machine struct {
	name       string
	driverName string  // as the driver spells it, without the vendor
	gpus       int     // that share the model
	memory     float64 // bytes, each
	bandwidth  float64 // bytes/s, peak
	flops      float64 // dense 16-bit tensor FLOP/s with 32-bit accumulation, peak
	flops8     float64 // the same with 8-bit operands; 0: no hardware for it
	link       link    // to the other GPUs
	idleWatts  float64 // each
	maxWatts   float64 // each, board power limit
	clockMHz   float64 // of the SMs, full
	clock      float64 // of the SMs, share of the full one

	// Attainable shares of the peaks. Streaming kernels reach about 0.8 of the
	// bandwidth. Large matrix products reach 0.8 of the arithmetic, a whole
	// prefill with its smaller kernels about 0.6.
	bandwidthShare float64
	flopsShare     float64

	overhead       time.Duration // per iteration: scheduling, launches, sampling
	overheadPerSeq time.Duration // per sequence in it
}

// link is how a GPU reaches the others. The share of its bandwidth that reductions
// attain is about 0.8.
type link struct {
	bandwidth float64       // bytes/s in each direction, of one GPU
	latency   time.Duration // of one all-reduce of next to nothing
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

// power is what the table of GPUs says about a board's power and clock.
type power struct{ idleW, maxW, clockMHz float64 }

// board makes an entry of the table: GB, GB/s, TFLOP/s at 16 and at 8 bits.
func board(name, driverName string, memoryGB, bandwidthGBs, tflops, tflops8 float64, l link, p power) machine {
	return machine{
		name: name, driverName: driverName, gpus: 1,
		memory: memoryGB * 1e9, bandwidth: bandwidthGBs * 1e9, flops: tflops * 1e12, flops8: tflops8 * 1e12, link: l,
		idleWatts: p.idleW, maxWatts: p.maxW, clockMHz: p.clockMHz, clock: 1,
		bandwidthShare: streamingShare, flopsShare: 0.6,
		overhead: 600 * time.Microsecond, overheadPerSeq: 8 * time.Microsecond,
	}
}

// Peaks are those of the vendors' data sheets, dense and not sparse; a test holds
// them against the table that the program judges real GPUs by. Idle power is a
// round figure.
var machines = []machine{
	board("A100-80GB", "A100-SXM4-80GB", 80, 2039, 312, 0, nvlink3, power{60, 400, 1410}),
	board("A100-40GB", "A100-SXM4-40GB", 40, 1555, 312, 0, nvlink3, power{50, 400, 1410}),
	board("H100", "H100 80GB HBM3", 80, 3350, 989, 1979, nvlink4, power{70, 700, 1980}),
	board("H200", "H200", 141, 4800, 989, 1979, nvlink4, power{75, 700, 1980}),
	board("B200", "B200", 180, 8000, 2250, 4500, nvlink5, power{140, 1000, 1965}),
	board("L40S", "L40S", 48, 864, 362, 733, pcie4, power{35, 350, 2520}),
	board("L4", "L4", 24, 300, 121, 242, pcie4, power{16, 72, 2040}),
	board("A10G", "A10G", 24, 600, 70, 0, pcie4, power{20, 300, 1710}),
	board("RTX-3090", "GeForce RTX 3090", 24, 936, 71, 0, pcie4, power{25, 350, 1695}),
	board("RTX-4090", "GeForce RTX 4090", 24, 1008, 165.2, 330.3, pcie4, power{20, 450, 2520}),
	board("RTX-5090", "GeForce RTX 5090", 32, 1792, 209.5, 419, pcie5, power{30, 575, 2407}),
}

func machineName(m machine) string { return m.name }

func machineNamed(name string) (machine, error) { return lookup("GPU", name, machines, machineName) }

// times is n of these GPUs in tensor parallel: n times the peaks.
func (m machine) times(n int) machine {
	m.gpus = n
	m.bandwidth *= float64(n)
	m.flops *= float64(n)
	m.flops8 *= float64(n)
	return m
}

// productFLOPs is the peak of products with weights of that kind.
func (m *machine) productFLOPs(d dtype) float64 {
	if d.eightBit && m.flops8 > 0 {
		return m.flops8
	}
	return m.flops
}

// kvReplicas is how often the KV cache is held: its heads are spread over the GPUs
// until there are none left to spread, then copied.
func (m *machine) kvReplicas(s *shape) float64 {
	return max(1, float64(m.gpus)/float64(max(1, s.kvHeads)))
}

// allReduces is the time that the GPUs of a tensor parallel group spend adding up
// their partial results for n tokens: twice in every layer, after attention and
// after the MLP (Megatron-LM, arXiv 1909.08053). A ring moves 2·(g−1)/g of the
// n·hidden·2 bytes out of each of g GPUs (NCCL's "bus bandwidth").
func (m *machine) allReduces(s *shape, n int) time.Duration {
	if m.gpus == 1 {
		return 0
	}
	const bytesPerElement = 2
	g := float64(m.gpus)
	moved := 2 * (g - 1) / g * float64(n*s.hidden*bytesPerElement)
	one := seconds(moved/(m.link.bandwidth*linkShare)) + m.link.latency
	return time.Duration(2*s.layers) * one
}
