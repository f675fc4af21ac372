// Package engine holds what an inference engine says about itself, as values: a Reading,
// and a Status around it. The packages below this folder find and read engines.
package engine

import (
	"fmt"
	"slices"
	"time"

	"sonde/probe/opt"
	"sonde/probe/plain"
)

// Identity is what detection found out once.
type Identity struct {
	Kind        string   `json:"kind"`    // "vllm", "ollama", "sonde-sim", …; "" if unknown
	Name        string   `json:"name"`    // for people: "vLLM", "Ollama", "sonde sim"
	Version     string   `json:"version"` // "" if unknown
	Model       string   `json:"model"`   // model that requests name; Reading.Model may be another one of the page
	Models      []string `json:"models"`
	NoChat      bool     `json:"no_chat,omitempty"`       // Model was chosen from a list of models none of which seems to be for chat
	MaxModelLen int      `json:"max_model_len"`           // tokens; 0 if unknown
	MaxInputLen int      `json:"max_input_len,omitempty"` // tokens of a prompt; 0 if unknown
	MaxRunning  int      `json:"max_running,omitempty"`   // requests that run at once; 0 if unknown
	About       []string `json:"about,omitempty"`         // what else the server says of itself, in words
	MetricsURL  string   `json:"metrics_url"`             // "" if none was found
	MetricsWhy  string   `json:"metrics_why"`             // why there is no MetricsURL, and what to do
	GPUURL      string   `json:"gpu_url"`                 // page with GPU metrics that this engine itself serves, "" if none
}

// Reading is what the engine says at one moment, merged over its ranks.
// Fractions are 0 to 1, latencies are seconds, unknown stays unknown. Origins holds
// for every known field where it comes from and how old it is.
type Reading struct {
	At time.Time `json:"at"` // when the page was read

	Engine  string `json:"engine,omitempty"`  // kind that the page itself shows, "" if it does not: a proxy may stand before it
	Via     string `json:"via,omitempty"`     // what the page came through: "Ray", "Dynamo worker", …; "" = nothing
	Router  bool   `json:"router,omitempty"`  // figures are of a pool of engines
	Model   string `json:"model,omitempty"`   // as the page spells it; "" if it names none
	Replica string `json:"replica,omitempty"` // name of the one of Status.Replicas that this is of; "" = of all
	Ranks   int    `json:"ranks,omitempty"`   // data-parallel ranks, replicas or servers that are merged; 0 if unknown

	Replicas int `json:"replicas,omitempty"` // servers that have series now, where a Prometheus server knows several

	Running          opt.Float  `json:"running"` // requests
	Waiting          opt.Float  `json:"waiting"`
	Paused           opt.Float  `json:"paused,omitzero"`       // requests swapped out, retracted or paused now
	WaitingMean      opt.Float  `json:"waiting_mean,omitzero"` // requests per server, where a router reports no sum
	KVFill           opt.Float  `json:"kv_fill"`               // mean over ranks, weighted by their capacity where that is known; 0 to 1
	KVFillMax        opt.Float  `json:"kv_fill_max"`           // fullest rank, 0 to 1
	KVByRank         []RankFill `json:"kv_by_rank,omitempty"`
	KVCapacityTokens opt.Float  `json:"kv_capacity_tokens"`
	KVCapacityBlocks opt.Float  `json:"kv_capacity_blocks,omitzero"` // where the page does not report the tokens of a block
	KVBlockTokens    opt.Float  `json:"kv_block_tokens,omitzero"`    // tokens of one block
	KVUsedTokens     opt.Float  `json:"kv_used_tokens,omitzero"`
	MaxModelLen      opt.Float  `json:"max_model_len,omitzero"` // tokens
	MaxRunning       opt.Float  `json:"max_running,omitzero"`   // requests that may run at once
	Servers          opt.Float  `json:"servers,omitzero"`       // ready engines behind a router
	ModelsLoaded     opt.Float  `json:"models_loaded,omitzero"` // where models come and go with the requests
	GPUShare         opt.Float  `json:"gpu_share,omitzero"`     // of the loaded model's bytes in GPU memory, 0 to 1

	// Counters since the engine started.
	Preemptions       opt.Float `json:"preemptions"`
	PrefixQueries     opt.Float `json:"prefix_queries"`         // in PrefixUnit
	PrefixHits        opt.Float `json:"prefix_hits"`            // in PrefixUnit
	PrefixUnit        Unit      `json:"prefix_unit,omitempty"`  // "" if unknown
	PromptTokens      opt.Float `json:"prompt_tokens"`          // with or without cached ones: see its Origin
	CachedTokens      opt.Float `json:"cached_tokens,omitzero"` // of the prompts
	GenerationTokens  opt.Float `json:"generation_tokens"`
	CountersOnFinish  bool      `json:"counters_on_finish,omitempty"` // token counters move only when a request ends
	LiveDecodeTokens  opt.Float `json:"live_decode_tokens,omitzero"`  // at every step
	LivePrefillTokens opt.Float `json:"live_prefill_tokens,omitzero"` // computed, at every step
	LiveCachedTokens  opt.Float `json:"live_cached_tokens,omitzero"`  // found in the cache, at every step
	RequestsOK        opt.Float `json:"requests_ok,omitzero"`
	RequestsFailed    opt.Float `json:"requests_failed,omitzero"`
	RequestsAborted   opt.Float `json:"requests_aborted,omitzero"`
	RequestsReceived  opt.Float `json:"requests_received,omitzero"`

	PrefixHitRate        opt.Float `json:"prefix_hit_rate"`         // since the reading before, 0 to 1; the engine's own gauge where it has no counters
	PromptTokensPerS     opt.Float `json:"prompt_tokens_per_s"`     // since the reading before; unknown where counters move only on finish
	GenerationTokensPerS opt.Float `json:"generation_tokens_per_s"` // since the reading before, else the engine's own gauge

	// Distributions as cumulative buckets since the engine started.
	TTFT    Histogram `json:"ttft_s,omitzero"`
	Gap     Histogram `json:"gap_s,omitzero"`
	TPOT    Histogram `json:"tpot_s,omitzero"`
	Queue   Histogram `json:"queue_s,omitzero"`
	Prefill Histogram `json:"prefill_s,omitzero"`
	Decode  Histogram `json:"decode_s,omitzero"`
	E2E     Histogram `json:"e2e_s,omitzero"`

	Gone []Gone `json:"gone,omitempty"` // replicas that had series and have none now

	Origins   map[Field]Origin `json:"origins,omitempty"`   // of every known field
	Restarted bool             `json:"restarted,omitempty"` // counters fell since the reading before
	Regrouped bool             `json:"regrouped,omitempty"` // replicas have joined or left since the reading before: the sums are of others
	Settings  []string         `json:"settings,omitempty"`  // how the engine was started, by the labels of its configuration: "block_size 16"
	Notes     []string         `json:"notes,omitempty"`     // remarks about the page
}

// Gone is a replica whose series have ended.
type Gone struct {
	Name  string    `json:"name"`
	Since time.Time `json:"since,omitzero"` // when its figures were last taken; zero if they never were
}

// GoneText names the replicas that are gone; "" if none are.
func (r *Reading) GoneText() string {
	n := len(r.Gone)
	if n == 0 {
		return ""
	}
	first, names := r.Gone[0].Since, []string{}
	for _, g := range r.Gone {
		names = append(names, g.Name)
		if g.Since.Before(first) {
			first = g.Since
		}
	}
	since := "before the start"
	if !first.IsZero() {
		since = first.Format("15:04")
	}
	return fmt.Sprintf("%d of %d replicas gone since %s: %s", n, n+r.Replicas, since, plain.FirstFew(names, 3))
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

// SetFills sets the mean and the fullest rank: a full rank preempts while the mean looks
// fine. Capacities weigh the mean, if there is one for every rank.
func (r *Reading) SetFills(ranks []RankFill, capacities []float64, from Origin) {
	if len(ranks) == 0 {
		return
	}
	var sum, weight, fullest float64
	for i, rank := range ranks {
		w := 1.0
		if len(capacities) == len(ranks) && capacities[i] > 0 {
			w = capacities[i]
		}
		sum, weight, fullest = sum+w*rank.Fill, weight+w, max(fullest, rank.Fill)
	}
	r.Put(FieldKVFill, opt.Of(sum/weight), from)
	r.KVFillMax, r.KVByRank = opt.Of(fullest), ranks
	if r.Ranks == 0 {
		r.Ranks = len(ranks)
	}
}

// Unit is what a prefix cache counts its queries and hits in.
type Unit string

// Units of prefix caches.
const (
	UnitTokens Unit = "tokens"
	UnitBlocks Unit = "blocks"
)

// Note adds a remark, once.
func (r *Reading) Note(text string) {
	if !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// RankFill is the KV cache fill of one rank.
type RankFill struct {
	Rank string  `json:"rank"` // as the page calls it; "" if it has but one
	Fill float64 `json:"fill"` // 0 to 1
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
	Several                  // several engines answer in turn, so there are no figures of any: Status.Why
)

var stateNames = []string{"connecting", "ready", "failed", "not_reported", "off", "several"}

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
	Identity Identity      `json:"identity"`
	Reading  Reading       `json:"-"`
	Have     bool          `json:"-"` // Reading is valid (it may be old: see Reading.At)
	State    State         `json:"-"`
	Why      string        `json:"why,omitempty"`      // for people: why there is no reading, or no newer one; "" when Ready
	Period   time.Duration `json:"period_ms,omitzero"` // how often new readings come; 0 until it is known
	OnPage   []string      `json:"on_page,omitempty"`  // models on the metrics page, sorted; choose one with SetModel
	// Replicas are those that the labels of the series distinguish, by name. Reading is
	// merged of all of them, or is of the one chosen with SetReplica.
	Replicas []Replica `json:"replicas,omitempty"`
}

// Replica is one of the servers that a Reading is merged of; if there is only one server,
// one of its data-parallel ranks.
type Replica struct {
	Name  string    `json:"name"`  // by the label that distinguishes it: a pod, an instance, "rank 0"
	At    time.Time `json:"at"`    // when its figures were taken
	Ranks int       `json:"ranks"` // that are merged in it

	OfServer bool `json:"of_server,omitempty"` // it is a rank of the only server

	Running              opt.Float `json:"running"` // requests
	Waiting              opt.Float `json:"waiting"`
	KVFill               opt.Float `json:"kv_fill"`                 // mean over its ranks, 0 to 1
	GenerationTokensPerS opt.Float `json:"generation_tokens_per_s"` // since the reading before; unknown where counters move only on finish

	Pod      string   `json:"pod,omitempty"`      // by which its GPUs may be known; "" if no label says
	Instance string   `json:"instance,omitempty"` // address that was scraped; "" if no label says
	Hosts    []string `json:"hosts,omitempty"`    // what its machine may be called

	GPUs int       `json:"gpus,omitempty"` // that labels say are its own; 0 if none do
	SM   opt.Float `json:"sm,omitzero"`    // activity of the busiest of them; both are set by who knows the GPUs
}
