// Package engine holds what an inference engine says about itself, as values: a Reading,
// and a Status around it. The packages below this folder find and read engines.
package engine

import (
	"fmt"
	"slices"
	"time"

	"sonde/probe/opt"
)

// Identity is what detection found out once.
type Identity struct {
	Kind        string // "vllm", "ollama", "sonde-sim", …; "" if unknown
	Name        string // for people: "vLLM", "Ollama", "sonde sim"
	Version     string // "" if unknown
	Model       string // model that requests name; Reading.Model may be another one of the page
	Models      []string
	MaxModelLen int      // tokens; 0 if unknown
	MaxInputLen int      // tokens of a prompt; 0 if unknown
	MaxRunning  int      // requests that run at once; 0 if unknown
	About       []string // what else the server says of itself, in words
	MetricsURL  string   // "" if none was found
	MetricsWhy  string   // why there is no MetricsURL, with the way out
	GPUURL      string   // page with GPU metrics that this engine itself serves, "" if none
}

// Reading is what the engine says at one moment, merged over its ranks.
// Fractions are 0 to 1, latencies are seconds, unknown stays unknown. Origins holds
// for every known field where it comes from and how old it is.
type Reading struct {
	At time.Time // when the page was read

	Engine  string // kind that the page itself shows, "" if it does not: a proxy may stand before it
	Via     string // what stands between: "Ray", "Dynamo worker", …; "" = nothing
	Router  bool   // figures are of a pool of engines
	Model   string // as the page spells it; "" if it names none
	Replica string // name of the one of Status.Replicas that this is of; "" = of all
	Ranks   int    // data-parallel ranks, replicas or servers that are merged; 0 if unknown

	Running, Waiting opt.Float // requests
	Paused           opt.Float // requests swapped out, retracted or paused now
	WaitingMean      opt.Float // requests per server, where a router tells no sum
	KVFill           opt.Float // mean over ranks, weighted by their capacity where that is known; 0 to 1
	KVFillMax        opt.Float // fullest rank, 0 to 1
	KVByRank         []RankFill
	KVCapacityTokens opt.Float
	KVCapacityBlocks opt.Float // where the page does not tell the tokens of a block
	KVBlockTokens    opt.Float // tokens of one block
	KVUsedTokens     opt.Float
	MaxModelLen      opt.Float // tokens
	MaxRunning       opt.Float // requests that may run at once
	Servers          opt.Float // ready engines behind a router
	ModelsLoaded     opt.Float // where models come and go with the requests
	GPUShare         opt.Float // of the loaded model's bytes in GPU memory, 0 to 1

	// Counters since the engine started.
	Preemptions       opt.Float
	PrefixQueries     opt.Float // in PrefixUnit
	PrefixHits        opt.Float // in PrefixUnit
	PrefixUnit        string    // "tokens" or "blocks"; "" if unknown
	PromptTokens      opt.Float // with or without cached ones: see its Origin
	CachedTokens      opt.Float // of the prompts
	GenerationTokens  opt.Float
	CountersOnFinish  bool      // token counters move only when a request ends
	LiveDecodeTokens  opt.Float // at every step
	LivePrefillTokens opt.Float // computed, at every step
	LiveCachedTokens  opt.Float // found in the cache, at every step
	RequestsOK        opt.Float
	RequestsFailed    opt.Float
	RequestsAborted   opt.Float
	RequestsReceived  opt.Float

	PrefixHitRate        opt.Float // since the reading before, 0 to 1; the engine's own gauge where it has no counters
	PromptTokensPerS     opt.Float // since the reading before; unknown where counters move only on finish
	GenerationTokensPerS opt.Float // since the reading before, else the engine's own gauge

	// Distributions as cumulative buckets since the engine started.
	TTFT, Gap, TPOT, Queue, Prefill, Decode, E2E Histogram

	Origins   map[Field]Origin // of every known field
	Restarted bool             // counters fell since the reading before
	Regrouped bool             // replicas have joined or left since the reading before: the sums are of others
	Settings  []string         // how the engine was started, by the labels of its configuration: "block_size 16"
	Notes     []string         // quiet remarks about the page
}

// Follows reports whether counters continue those of an earlier reading: they did not
// start again, and are not those of another model or replica.
func (r *Reading) Follows(before *Reading) bool {
	return !r.Restarted && !r.Regrouped && r.SameOf(before)
}

// SameOf reports whether two readings are of the same model and replica.
func (r *Reading) SameOf(other *Reading) bool {
	return r.Model == other.Model && r.Replica == other.Replica
}

// FullestKV is the KV cache fill of the fullest rank or replica, 0 to 1. A router may
// publish only a mean over its servers, which says nothing about the fullest of them.
func (r *Reading) FullestKV() opt.Float {
	if r.KVFillMax.OK || r.Router {
		return r.KVFillMax
	}
	return r.KVFill
}

// RankFill is the KV cache fill of one rank.
type RankFill struct {
	Rank string  // as the page calls it; "" if it has but one
	Fill float64 // 0 to 1
}

// State says what became of the reading of an engine.
type State int

// States of a source.
const (
	Connecting  State = iota // nothing has been read or missed yet
	Ready                    // Status.Reading is the newest there can be
	Failed                   // there is no reading, or no newer one: Status.Why
	NotReported              // the engine has nothing to read: Status.Why
	Off                      // switched off by the user
)

var stateNames = []string{"connecting", "ready", "failed", "not_reported", "off"}

func (s State) String() string { return stateNames[s] }

// MarshalText writes a state as recordings hold it.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames, string(text))
	if i < 0 {
		return fmt.Errorf("unknown state %q", text)
	}
	*s = State(i)
	return nil
}

// Status is the newest reading with its circumstances, as a source publishes it.
type Status struct {
	Identity Identity
	Reading  Reading
	Have     bool // Reading is valid (it may be old: see Reading.At)
	State    State
	Why      string        // for people: why there is no reading, or no newer one; "" when Ready
	Period   time.Duration // how often new readings come; 0 until it is known
	OnPage   []string      // models that the metrics page tells apart, sorted; choose one with SetModel
	// Replicas are what the series tell apart, by name, whether Reading is merged of
	// all of them or is of one: choose it with SetReplica.
	Replicas []Replica
}

// Replica is one of the servers that a Reading is merged of: of one server alone,
// one of its data-parallel ranks.
type Replica struct {
	Name  string    // by the label that tells it from the others: a pod, an instance, "rank 0"
	At    time.Time // when its figures were taken
	Ranks int       // that are merged in it

	OfServer bool // it is a rank of the only server

	Running, Waiting     opt.Float // requests
	KVFill               opt.Float // mean over its ranks, 0 to 1
	GenerationTokensPerS opt.Float // since the reading before; unknown where counters move only on finish

	Pod      string   // by which its GPUs may be known; "" if no label tells
	Instance string   // address that was scraped; "" if no label tells
	Hosts    []string // what its machine may be called

	GPUs int       // that labels say are its own; 0 if none do
	SM   opt.Float // activity of the busiest of them; both are set by who knows the GPUs
}
