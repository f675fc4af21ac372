package sweep

import (
	"fmt"

	"sonde/probe/level"
	"sonde/probe/units"
)

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
	Evidence string
}

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
	e, where := &top.Engine, "at "+Describe(top.Load)
	waits := e.Waiting.OK && e.Waiting.V >= queued
	switch {
	case top.Client.Behind > clientBound:
		return Limit{ClientLimit, "this client: " + top.Client.BehindWhy}
	case float64(top.Refused()) > refusedMuch*float64(top.OK+top.Failed):
		return Limit{RateLimit, fmt.Sprintf("rate limit: %d of %d requests were refused %s", top.Refused(), top.OK+top.Failed, where)}
	case e.Preemptions.Or(0) > 0:
		return Limit{KVCache, fmt.Sprintf("KV cache: %s, up to %s %% full %s", units.Count(e.Preemptions.V, "preemption"), units.Known(e.KVMax.Scale(100), units.Digits3), where)}
	case waits && kvFull(e):
		return Limit{KVCache, fmt.Sprintf("KV cache: %s full with %s running, one more does not fit, and %s waiting %s",
			units.Share(e.KVMax.V), units.Known(e.Running, units.Sig2), units.Sig2(e.Waiting.V), where)}
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
	a, e := &at.Engine, &top.Engine
	added := level.InFlight(top) - level.InFlight(at)
	if !a.Running.OK || !e.Running.OK || !a.Waiting.OK || added <= 0 {
		return unknownLimit("requests wait, and the engine does not report how many run")
	}
	ran, waited := e.Running.V-a.Running.V, e.Waiting.V-a.Waiting.V
	switch {
	case ran > added/2:
		return arithmetic(top) // what waits is on its way in
	case ran > added/4 || waited < added/2:
		return unknownLimit(fmt.Sprintf("of %s added, %s run and %s wait", units.Count(added, "request"), units.Sig2(ran), units.Sig2(waited)))
	case !e.KVMax.OK:
		return Limit{UnknownResource, fmt.Sprintf("limit of sequences or KV cache, the engine does not report which: %s run however many come", units.Sig2(e.Running.V))}
	}
	return Limit{MaxSequences, fmt.Sprintf("limit of sequences: %s run however many come, %s wait at %s, and the KV cache is only %s full",
		units.Sig2(e.Running.V), units.Sig2(e.Waiting.V), Describe(top.Load), units.Share(e.KVMax.V))}
}

// arithmetic judges a GPU that everything runs on at once.
func arithmetic(top *level.Level) Limit {
	where := "at " + Describe(top.Load) + ", and all requests run"
	switch {
	case top.DRAM.Or(0) >= dramBusy && top.DRAM.V >= top.Tensor.Or(0):
		return Limit{MemoryBandwidth, fmt.Sprintf("memory bandwidth: DRAM %s of its peak %s", units.Share(top.DRAM.V), where)}
	case top.Tensor.Or(0) >= tensorBusy:
		return Limit{Compute, fmt.Sprintf("compute: tensor cores %s of their peak %s", units.Share(top.Tensor.V), where)}
	case top.MFU.Or(0) >= mfuHigh:
		return Limit{Compute, fmt.Sprintf("compute: %s of the peak arithmetic %s", units.Share(top.MFU.V), where)}
	}
	return unknownLimit("no reading of queue, KV cache or GPU shows it")
}

func unknownLimit(why string) Limit {
	return Limit{UnknownResource, "what is exhausted is unknown: " + why}
}
