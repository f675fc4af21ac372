package sim

import "time"

// machine is one or more GPUs that run a model together. Peaks are of all of
// them; memory and watts are of each.
type machine struct {
	name       string
	driverName string  // as the driver spells it, without the vendor
	gpus       int     // that share the model
	memory     float64 // bytes, each
	bandwidth  float64 // bytes/s, peak
	flops      float64 // dense 16-bit tensor FLOP/s with 32-bit accumulation, peak
	idleWatts  float64 // each
	maxWatts   float64 // each, board power limit
	clockMHz   float64 // of the SMs, full
	clock      float64 // of the SMs, share of the full one

	// Attainable shares of the peaks. Streaming kernels reach about 0.8 of the
	// bandwidth. Large matrix products reach 0.8 of the arithmetic, a whole
	// prefill with its smaller kernels about 0.6.
	bandwidthShare float64
	flopsShare     float64

	overhead         time.Duration // per iteration: scheduling, launches, sampling
	overheadPerSeq   time.Duration // per sequence in it
	overheadPerLayer time.Duration // all-reduces between GPUs
}

// streamingShare is the bandwidthShare at the full clock.
const streamingShare = 0.8

// gpu fills in what all entries share.
func gpu(name, driverName string, memoryGB, bandwidthGBs, tflops, idleW, maxW, clockMHz float64) machine {
	return machine{
		name: name, driverName: driverName, gpus: 1,
		memory: memoryGB * 1e9, bandwidth: bandwidthGBs * 1e9, flops: tflops * 1e12,
		idleWatts: idleW, maxWatts: maxW, clockMHz: clockMHz, clock: 1,
		bandwidthShare: streamingShare, flopsShare: 0.6,
		overhead: 600 * time.Microsecond, overheadPerSeq: 8 * time.Microsecond,
	}
}

// Peaks are those of the vendors' data sheets: dense, not sparse. Idle power is
// a round figure.
var machines = []machine{
	gpu("A100-80GB", "A100-SXM4-80GB", 80, 2039, 312, 60, 400, 1410),
	gpu("A100-40GB", "A100-SXM4-40GB", 40, 1555, 312, 50, 400, 1410),
	gpu("H100", "H100 80GB HBM3", 80, 3350, 989, 70, 700, 1980),
	gpu("H200", "H200", 141, 4800, 989, 75, 700, 1980),
	gpu("B200", "B200", 180, 8000, 2250, 140, 1000, 1965),
	gpu("L40S", "L40S", 48, 864, 362, 35, 350, 2520),
	gpu("L4", "L4", 24, 300, 121, 16, 72, 2040),
	gpu("A10G", "A10G", 24, 600, 70, 20, 300, 1710),
	gpu("RTX-3090", "GeForce RTX 3090", 24, 936, 71, 25, 350, 1695),
	gpu("RTX-4090", "GeForce RTX 4090", 24, 1008, 165.2, 20, 450, 2520),
	gpu("RTX-5090", "GeForce RTX 5090", 32, 1792, 209.5, 30, 575, 2407),
}

// GPUs lists the names that Options.GPU understands.
func GPUs() []string { return names(machines, machineName) }

func machineName(m machine) string { return m.name }

func machineNamed(name string) (machine, error) { return lookup("GPU", name, machines, machineName) }

// times is n of these GPUs in tensor parallel: n times the peaks, and two
// all-reduces per layer of about 10 µs each.
func (m machine) times(n int) machine {
	m.gpus = n
	m.bandwidth *= float64(n)
	m.flops *= float64(n)
	if n > 1 {
		m.overheadPerLayer = 20 * time.Microsecond
	}
	return m
}
