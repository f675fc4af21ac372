package engine

import (
	"time"

	"sonde/probe/opt"
)

// Field names one figure or distribution of a Reading, in words for people.
type Field string

// Gauges: how things stand now, summed over ranks unless said otherwise.
const (
	FieldRunning      Field = "running"            // requests in the batch
	FieldWaiting      Field = "waiting"            // requests accepted and not scheduled
	FieldPaused       Field = "paused"             // requests swapped out, retracted or paused now
	FieldKVFill       Field = "KV cache fill"      // 0 to 1
	FieldKVCapacity   Field = "KV cache capacity"  // tokens
	FieldKVBlocks     Field = "KV cache blocks"    // of the engine's own size
	FieldKVUsed       Field = "KV cache used"      // tokens
	FieldMaxModelLen  Field = "max model length"   // tokens
	FieldMaxRunning   Field = "max running"        // requests
	FieldModelsLoaded Field = "models loaded"      // where models come and go
	FieldGPUShare     Field = "share on the GPU"   // of the loaded model's bytes, 0 to 1
	FieldServers      Field = "servers"            // engines behind a router
	FieldOutputGauge  Field = "output rate"        // tokens/s
	FieldInputRate    Field = "input rate"         // tokens/s
	FieldHitRateGauge Field = "prefix cache rate"  // 0 to 1
	FieldWaitingMean  Field = "waiting per server" // requests, mean over the servers of a router
)

// Counters since the engine started, summed over ranks.
const (
	FieldPreemptions      Field = "preemptions"
	FieldPromptTokens     Field = "prompt tokens"
	FieldGenerationTokens Field = "generation tokens"
	FieldCachedTokens     Field = "cached tokens"     // of the prompts
	FieldPrefixQueries    Field = "prefix queries"    // tokens or blocks, as hits
	FieldPrefixHits       Field = "prefix hits"       // tokens or blocks
	FieldLiveDecode       Field = "live decode"       // tokens, at every step
	FieldLivePrefill      Field = "live prefill"      // tokens computed, at every step
	FieldLiveCached       Field = "live cached"       // tokens found in the cache, at every step
	FieldRequestsOK       Field = "requests ok"       // finished
	FieldRequestsFailed   Field = "requests failed"   // with an error
	FieldRequestsAborted  Field = "requests aborted"  // by the client
	FieldRequestsReceived Field = "requests received" // whatever became of them
)

// Distributions since the engine started, merged over ranks; seconds.
const (
	FieldTTFT    Field = "TTFT"
	FieldGap     Field = "gap"  // between tokens; per engine step and request in some engines
	FieldTPOT    Field = "TPOT" // mean of one request
	FieldQueue   Field = "queue time"
	FieldPrefill Field = "prefill time"
	FieldDecode  Field = "decode time"
	FieldE2E     Field = "E2E"
)

// Origin is where a figure of a Reading comes from.
type Origin struct {
	Source string    `json:"source"`           // metric as on the page, or page and key: "vllm:kv_cache_usage_perc", "/slots n_prompt_tokens"
	At     time.Time `json:"at"`               // when that page was read
	Remark string    `json:"remark,omitempty"` // what is unusual about the figure; "" = nothing: "moves when a request ends"
}

// gauges and counters say where a Reading keeps a figure, distributions where a Histogram.
var gauges = map[Field]func(*Reading) *opt.Float{
	FieldRunning:      func(r *Reading) *opt.Float { return &r.Running },
	FieldWaiting:      func(r *Reading) *opt.Float { return &r.Waiting },
	FieldPaused:       func(r *Reading) *opt.Float { return &r.Paused },
	FieldKVFill:       func(r *Reading) *opt.Float { return &r.KVFill },
	FieldKVCapacity:   func(r *Reading) *opt.Float { return &r.KVCapacityTokens },
	FieldKVBlocks:     func(r *Reading) *opt.Float { return &r.KVCapacityBlocks },
	FieldKVUsed:       func(r *Reading) *opt.Float { return &r.KVUsedTokens },
	FieldMaxModelLen:  func(r *Reading) *opt.Float { return &r.MaxModelLen },
	FieldMaxRunning:   func(r *Reading) *opt.Float { return &r.MaxRunning },
	FieldModelsLoaded: func(r *Reading) *opt.Float { return &r.ModelsLoaded },
	FieldGPUShare:     func(r *Reading) *opt.Float { return &r.GPUShare },
	FieldServers:      func(r *Reading) *opt.Float { return &r.Servers },
	FieldOutputGauge:  func(r *Reading) *opt.Float { return &r.GenerationTokensPerS },
	FieldInputRate:    func(r *Reading) *opt.Float { return &r.PromptTokensPerS },
	FieldHitRateGauge: func(r *Reading) *opt.Float { return &r.PrefixHitRate },
	FieldWaitingMean:  func(r *Reading) *opt.Float { return &r.WaitingMean },
}

var counters = map[Field]func(*Reading) *opt.Float{
	FieldPreemptions:      func(r *Reading) *opt.Float { return &r.Preemptions },
	FieldPromptTokens:     func(r *Reading) *opt.Float { return &r.PromptTokens },
	FieldGenerationTokens: func(r *Reading) *opt.Float { return &r.GenerationTokens },
	FieldCachedTokens:     func(r *Reading) *opt.Float { return &r.CachedTokens },
	FieldPrefixQueries:    func(r *Reading) *opt.Float { return &r.PrefixQueries },
	FieldPrefixHits:       func(r *Reading) *opt.Float { return &r.PrefixHits },
	FieldLiveDecode:       func(r *Reading) *opt.Float { return &r.LiveDecodeTokens },
	FieldLivePrefill:      func(r *Reading) *opt.Float { return &r.LivePrefillTokens },
	FieldLiveCached:       func(r *Reading) *opt.Float { return &r.LiveCachedTokens },
	FieldRequestsOK:       func(r *Reading) *opt.Float { return &r.RequestsOK },
	FieldRequestsFailed:   func(r *Reading) *opt.Float { return &r.RequestsFailed },
	FieldRequestsAborted:  func(r *Reading) *opt.Float { return &r.RequestsAborted },
	FieldRequestsReceived: func(r *Reading) *opt.Float { return &r.RequestsReceived },
}

var distributions = map[Field]func(*Reading) *Histogram{
	FieldTTFT:    func(r *Reading) *Histogram { return &r.TTFT },
	FieldGap:     func(r *Reading) *Histogram { return &r.Gap },
	FieldTPOT:    func(r *Reading) *Histogram { return &r.TPOT },
	FieldQueue:   func(r *Reading) *Histogram { return &r.Queue },
	FieldPrefill: func(r *Reading) *Histogram { return &r.Prefill },
	FieldDecode:  func(r *Reading) *Histogram { return &r.Decode },
	FieldE2E:     func(r *Reading) *Histogram { return &r.E2E },
}

// Distributions are the fields that hold a Histogram.
var Distributions = []Field{FieldTTFT, FieldGap, FieldTPOT, FieldQueue, FieldPrefill, FieldDecode, FieldE2E}

// Figure returns where a reading keeps a gauge or counter; nil for distributions.
func (r *Reading) Figure(f Field) *opt.Float {
	if at := gauges[f]; at != nil {
		return at(r)
	}
	return r.Counter(f)
}

// Counter returns where a reading keeps a counter; nil if f is not one.
func (r *Reading) Counter(f Field) *opt.Float {
	if at := counters[f]; at != nil {
		return at(r)
	}
	return nil
}

// Distribution returns where a reading keeps a distribution; nil if f is not one.
func (r *Reading) Distribution(f Field) *Histogram {
	if at := distributions[f]; at != nil {
		return at(r)
	}
	return nil
}

// Known reports whether a reading holds a field.
func (r *Reading) Known(f Field) bool {
	if v := r.Figure(f); v != nil {
		return v.OK
	}
	h := r.Distribution(f)
	return h != nil && len(h.Bounds) > 0
}

// Origin returns where a field comes from, by the field's name; not known if the field
// is not.
func (r *Reading) Origin(field string) (o Origin, known bool) {
	o, known = r.Origins[Field(field)]
	return o, known
}
