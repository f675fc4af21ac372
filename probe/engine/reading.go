// Package engine finds out which inference engine answers at an address, and
// reads what that engine says about itself into one common Reading.
package engine

import (
	"time"

	"sonde/probe/opt"
)

// Identity is what detection found out once.
type Identity struct {
	Kind        string // "vllm", "ollama", "sonde-sim", …; "" if unknown
	Name        string // for people: "vLLM", "Ollama", "sonde sim"
	Version     string // "" if unknown
	Model       string // model that requests will name
	Models      []string
	MaxModelLen int    // tokens; 0 if unknown
	MetricsURL  string // "" if none was found
	MetricsWhy  string // why there is no MetricsURL, with the way out
	GPUURL      string // page with GPU metrics that this engine itself serves, "" if none
}

// Reading is what the engine says at one moment, merged over its ranks.
// Fractions are 0 to 1, latencies are seconds, unknown stays unknown.
type Reading struct {
	At time.Time // when the page was read

	Running, Waiting     opt.Float // requests
	KVFill               opt.Float // mean over ranks, 0 to 1
	KVFillMax            opt.Float // fullest rank, 0 to 1
	KVCapacityTokens     opt.Float
	Preemptions          opt.Float // counter since the engine started
	PrefixQueries        opt.Float // counter, tokens
	PrefixHits           opt.Float // counter, tokens
	PromptTokens         opt.Float // counter
	GenerationTokens     opt.Float // counter
	PrefixHitRate        opt.Float // since the reading before, 0 to 1; the engine's own gauge where it has no counters
	PromptTokensPerS     opt.Float // since the reading before
	GenerationTokensPerS opt.Float // since the reading before

	// Distributions as cumulative buckets since the engine started.
	TTFT, Gap, Queue, Prefill, E2E Histogram

	Restarted bool     // counters fell since the reading before
	Notes     []string // quiet remarks about the page
}

// Histogram is a Prometheus histogram, merged over ranks. Buckets are cumulative
// and sorted by bound; the last bound is +Inf. No buckets means unknown.
type Histogram struct {
	Bounds []float64 // upper bounds, seconds
	Counts []float64 // cumulative
	Sum    float64   // seconds
	Count  float64
}

// Status is the newest reading with its circumstances, as a source publishes it.
type Status struct {
	Identity Identity
	Reading  Reading
	Have     bool   // Reading is valid (it may be old: see Reading.At)
	Why      string // why there is no reading, or no newer one; "" if all is well
}
