package sweep

import "sonde/probe/level"

// Resource is what limits the throughput of a service.
type Resource string

// Resources, by their names in files.
const (
	MaxSequences    Resource = "max_sequences"
	KVCache         Resource = "kv_cache"
	MemoryBandwidth Resource = "memory_bandwidth"
	Compute         Resource = "compute"
	ClientLimit     Resource = "client"
	RateLimit       Resource = "rate_limit"
	UnknownResource Resource = "unknown"
)

// Limit is the resource that the load beyond the knee runs into, and how it shows.
type Limit struct {
	Resource Resource
	sign     sign
}

// sign is the evidence for a limit; see Knee.limitEvidence.
type sign int

const (
	signNone        sign = iota // no reading of queue, KV cache or GPU
	signClient                  // this client is the bottleneck
	signRefusals                // requests are refused
	signPreemptions             // sequences were evicted
	signCacheFull               // requests wait, and the cache has no room
	signSequences               // what is added waits and does not run, and the cache has room
	signNoRunning               // requests wait; how many run is unknown
	signPartlyRuns              // some of what is added runs, some waits
	signNoCacheFill             // what is added waits; how full the cache is is unknown
	signDRAM                    // the memory is busy
	signTensor                  // tensor cores are busy
	signArithmetic              // the arithmetic is near its peak
)

// Bounds of the evidence for a limit.
const (
	clientBound  = 0.5  // share of the time in which the client is the bottleneck
	refusedMuch  = 0.05 // share of requests
	kvAlmostFull = 0.95 // of the KV cache
	queued       = 1.0  // requests waiting, as a mean
	// Streaming kernels come to about 80 % of the theoretical bandwidth, large matrix
	// products to 60 to 80 % of the arithmetic: from these shares on little is left.
	dramBusy   = 0.60
	tensorBusy = 0.45
	mfuHigh    = 0.45
)

// limitOf finds what the load beyond the knee runs into. at is the level at the knee, top the
// largest load that was measured.
func limitOf(at, top *level.Level) Limit {
	e := &top.Engine
	waits := e.Waiting.OK && e.Waiting.V >= queued
	switch {
	case top.Client.Behind > clientBound:
		return Limit{ClientLimit, signClient}
	case float64(top.Refused()) > refusedMuch*float64(top.OK+top.Failed):
		return Limit{RateLimit, signRefusals}
	case e.Preemptions.Or(0) > 0:
		return Limit{KVCache, signPreemptions}
	case waits && kvFull(e):
		return Limit{KVCache, signCacheFull}
	case waits:
		return queueLimit(at, top)
	}
	return arithmetic(top)
}

// kvFull reports whether the cache had no room for another sequence: engines admit one
// only if its prompt fits.
func kvFull(e *level.Engine) bool {
	if !e.KVMax.OK {
		return false
	}
	one := 0.0
	if e.KV.OK && e.Running.Or(0) > 0 {
		one = e.KV.V / e.Running.V
	}
	return e.KVMax.V >= kvAlmostFull || e.KVMax.V+one >= 1
}

// queueLimit judges a queue before a cache that has room: if what is added waits
// and does not run, the engine's limit of sequences is reached.
func queueLimit(at, top *level.Level) Limit {
	added := level.InFlight(top) - level.InFlight(at)
	if !at.Engine.Running.OK || !top.Engine.Running.OK || !at.Engine.Waiting.OK || added <= 0 {
		return Limit{UnknownResource, signNoRunning}
	}
	ran, waited := addedToEngine(at, top)
	switch {
	case ran > added/2:
		return arithmetic(top) // what waits is on its way in
	case ran > added/4 || waited < added/2:
		return Limit{UnknownResource, signPartlyRuns}
	case !top.Engine.KVMax.OK:
		return Limit{UnknownResource, signNoCacheFill}
	}
	return Limit{MaxSequences, signSequences}
}

// addedToEngine is how many more requests run and wait at the top than at the knee.
func addedToEngine(at, top *level.Level) (ran, waited float64) {
	return top.Engine.Running.V - at.Engine.Running.V, top.Engine.Waiting.V - at.Engine.Waiting.V
}

// arithmetic judges a GPU that everything runs on at once.
func arithmetic(top *level.Level) Limit {
	switch {
	case top.DRAM.Or(0) >= dramBusy && top.DRAM.V >= top.Tensor.Or(0):
		return Limit{MemoryBandwidth, signDRAM}
	case top.Tensor.Or(0) >= tensorBusy:
		return Limit{Compute, signTensor}
	case top.MFU.Or(0) >= mfuHigh:
		return Limit{Compute, signArithmetic}
	}
	return Limit{UnknownResource, signNone}
}
