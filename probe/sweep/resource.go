package sweep

import "fmt"

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

// String is the resource in words.
func (r Resource) String() string {
	switch r {
	case MaxSequences:
		return "the engine's limit of sequences"
	case KVCache:
		return "the KV cache"
	case MemoryBandwidth:
		return "memory bandwidth"
	case Compute:
		return "compute"
	case ClientLimit:
		return "this client"
	case RateLimit:
		return "a rate limit"
	}
	return "unknown"
}

// Bounds of the evidence for an exhausted resource.
const (
	refusedMuch  = 0.05 // share of requests
	kvAlmostFull = 0.95 // of the KV cache
	queued       = 1.0  // requests waiting, as a mean
	// Streaming kernels come to about 80 % of the theoretical bandwidth, large matrix
	// products to 60 to 80 % of the arithmetic: from these shares on little is left.
	dramBusy   = 0.60
	tensorBusy = 0.45
	mfuHigh    = 0.45
)

// exhausted says which resource the load beyond the knee runs into, and on what
// evidence. at is the level at the knee, top the largest load that was measured.
func exhausted(at, top *Row) (Resource, string) {
	waits := top.Waiting.OK && top.Waiting.V >= queued
	switch {
	case top.ClientBound:
		return ClientLimit, "this client: " + top.ClientWhy
	case top.OK+top.Failed > 0 && float64(top.Refused) > refusedMuch*float64(top.OK+top.Failed):
		return RateLimit, fmt.Sprintf("rate limit: %d of %d requests were refused at %s", top.Refused, top.OK+top.Failed, Describe(top.Load))
	case top.Preemptions.Or(0) > 0:
		return KVCache, fmt.Sprintf("KV cache: %.0f preemptions, up to %s %% full at %s", top.Preemptions.V, figure(top.KVMax.Scale(100)), Describe(top.Load))
	case waits && kvFull(top):
		return KVCache, fmt.Sprintf("KV cache: %.0f %% full with %s running, one more does not fit, and %.1f wait at %s",
			100*top.KVMax.V, figure(top.Running), top.Waiting.V, Describe(top.Load))
	case waits:
		return queueLimit(at, top)
	}
	return arithmetic(top)
}

// kvFull tells whether the cache had no room for another sequence: engines admit one
// only if its prompt fits.
func kvFull(r *Row) bool {
	if !r.KVMax.OK {
		return false
	}
	one := 0.0
	if r.KV.OK && r.Running.Or(0) > 0 {
		one = r.KV.V / r.Running.V
	}
	return r.KVMax.V >= kvAlmostFull || r.KVMax.V+one >= 1
}

// queueLimit judges a queue before a cache that has room: if what is added waits
// and does not run, the engine's limit of sequences is reached.
func queueLimit(at, top *Row) (Resource, string) {
	added := inFlight(top) - inFlight(at)
	if !at.Running.OK || !top.Running.OK || !at.Waiting.OK || added <= 0 {
		return UnknownResource, "what is exhausted is unknown: requests wait, and the engine does not say how many run"
	}
	ran, waited := top.Running.V-at.Running.V, top.Waiting.V-at.Waiting.V
	if ran > added/2 {
		return arithmetic(top) // what waits is on its way in
	}
	if ran > added/4 || waited < added/2 {
		return UnknownResource, fmt.Sprintf("what is exhausted is unknown: of %.0f added requests %.1f run and %.1f wait", added, ran, waited)
	}
	if !top.KVMax.OK {
		return UnknownResource, fmt.Sprintf("limit of sequences or KV cache, which of them the engine does not tell: %.1f run however many come", top.Running.V)
	}
	return MaxSequences, fmt.Sprintf("limit of sequences: %.1f run however many come, %.1f wait at %s, and the KV cache is only %.0f %% full",
		top.Running.V, top.Waiting.V, Describe(top.Load), 100*top.KVMax.V)
}

// arithmetic judges a GPU that everything runs on at once.
func arithmetic(top *Row) (Resource, string) {
	where := "at " + Describe(top.Load)
	switch {
	case top.DRAM.Or(0) >= dramBusy && top.DRAM.V >= top.Tensor.Or(0):
		return MemoryBandwidth, fmt.Sprintf("memory bandwidth: DRAM %.0f %% of its peak %s, and what comes runs", 100*top.DRAM.V, where)
	case top.Tensor.Or(0) >= tensorBusy:
		return Compute, fmt.Sprintf("compute: tensor cores %.0f %% of their peak %s, and what comes runs", 100*top.Tensor.V, where)
	case top.MFU.Or(0) >= mfuHigh:
		return Compute, fmt.Sprintf("compute: %.0f %% of the peak arithmetic %s, and what comes runs", 100*top.MFU.V, where)
	}
	return UnknownResource, "what is exhausted is unknown: no reading of queue, KV cache or GPU tells"
}
