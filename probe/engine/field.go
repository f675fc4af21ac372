package engine

import (
	"time"

	"sonde/probe/opt"
)

// Field names one figure or distribution of a Reading, in words for people.
type Field string

// gauges, counters and distributions say where a Reading keeps each field.
var (
	gauges        = map[Field]func(*Reading) *opt.Float{}
	counters      = map[Field]func(*Reading) *opt.Float{}
	distributions = map[Field]func(*Reading) *Histogram{}
)

func gauge(f Field, at func(*Reading) *opt.Float) Field {
	gauges[f] = at
	return f
}

func counter(f Field, at func(*Reading) *opt.Float) Field {
	counters[f] = at
	return f
}

func distribution(f Field, at func(*Reading) *Histogram) Field {
	distributions[f] = at
	return f
}

// Gauges: how things stand now, summed over ranks unless said otherwise.
var (
	FieldRunning      = gauge("running", func(r *Reading) *opt.Float { return &r.Running })                    // requests in the batch
	FieldWaiting      = gauge("waiting", func(r *Reading) *opt.Float { return &r.Waiting })                    // requests accepted and not scheduled
	FieldPaused       = gauge("paused", func(r *Reading) *opt.Float { return &r.Paused })                      // requests swapped out, retracted or paused now
	FieldKVFill       = gauge("KV cache fill", func(r *Reading) *opt.Float { return &r.KVFill })               // 0 to 1
	FieldKVCapacity   = gauge("KV cache capacity", func(r *Reading) *opt.Float { return &r.KVCapacityTokens }) // tokens
	FieldKVBlocks     = gauge("KV cache blocks", func(r *Reading) *opt.Float { return &r.KVCapacityBlocks })   // of the engine's own size
	FieldKVUsed       = gauge("KV cache used", func(r *Reading) *opt.Float { return &r.KVUsedTokens })         // tokens
	FieldMaxModelLen  = gauge("max model length", func(r *Reading) *opt.Float { return &r.MaxModelLen })       // tokens
	FieldMaxRunning   = gauge("max running", func(r *Reading) *opt.Float { return &r.MaxRunning })             // requests
	FieldModelsLoaded = gauge("models loaded", func(r *Reading) *opt.Float { return &r.ModelsLoaded })         // where models come and go
	FieldGPUShare     = gauge("share on the GPU", func(r *Reading) *opt.Float { return &r.GPUShare })          // of the loaded model's bytes, 0 to 1
	FieldServers      = gauge("servers", func(r *Reading) *opt.Float { return &r.Servers })                    // engines behind a router
	FieldOutputGauge  = gauge("output rate", func(r *Reading) *opt.Float { return &r.GenerationTokensPerS })   // tokens/s
	FieldInputRate    = gauge("input rate", func(r *Reading) *opt.Float { return &r.PromptTokensPerS })        // tokens/s
	FieldHitRateGauge = gauge("prefix cache rate", func(r *Reading) *opt.Float { return &r.PrefixHitRate })    // 0 to 1
	FieldWaitingMean  = gauge("waiting per server", func(r *Reading) *opt.Float { return &r.WaitingMean })     // requests, mean over the servers of a router
)

// Counters since the engine started, summed over ranks.
var (
	FieldPreemptions      = counter("preemptions", func(r *Reading) *opt.Float { return &r.Preemptions })
	FieldPromptTokens     = counter("prompt tokens", func(r *Reading) *opt.Float { return &r.PromptTokens })
	FieldGenerationTokens = counter("generation tokens", func(r *Reading) *opt.Float { return &r.GenerationTokens })
	FieldCachedTokens     = counter("cached tokens", func(r *Reading) *opt.Float { return &r.CachedTokens })         // of the prompts
	FieldPrefixQueries    = counter("prefix queries", func(r *Reading) *opt.Float { return &r.PrefixQueries })       // tokens or blocks, as hits
	FieldPrefixHits       = counter("prefix hits", func(r *Reading) *opt.Float { return &r.PrefixHits })             // tokens or blocks
	FieldLiveDecode       = counter("live decode", func(r *Reading) *opt.Float { return &r.LiveDecodeTokens })       // tokens, at every step
	FieldLivePrefill      = counter("live prefill", func(r *Reading) *opt.Float { return &r.LivePrefillTokens })     // tokens computed, at every step
	FieldLiveCached       = counter("live cached", func(r *Reading) *opt.Float { return &r.LiveCachedTokens })       // tokens found in the cache, at every step
	FieldRequestsOK       = counter("requests ok", func(r *Reading) *opt.Float { return &r.RequestsOK })             // finished
	FieldRequestsFailed   = counter("requests failed", func(r *Reading) *opt.Float { return &r.RequestsFailed })     // with an error
	FieldRequestsAborted  = counter("requests aborted", func(r *Reading) *opt.Float { return &r.RequestsAborted })   // by the client
	FieldRequestsReceived = counter("requests received", func(r *Reading) *opt.Float { return &r.RequestsReceived }) // whatever became of them
)

// Distributions since the engine started, merged over ranks; seconds.
var (
	FieldTTFT    = distribution("TTFT", func(r *Reading) *Histogram { return &r.TTFT })
	FieldGap     = distribution("gap", func(r *Reading) *Histogram { return &r.Gap })   // between tokens; per engine step and request in some engines
	FieldTPOT    = distribution("TPOT", func(r *Reading) *Histogram { return &r.TPOT }) // mean of one request
	FieldQueue   = distribution("queue time", func(r *Reading) *Histogram { return &r.Queue })
	FieldPrefill = distribution("prefill time", func(r *Reading) *Histogram { return &r.Prefill })
	FieldDecode  = distribution("decode time", func(r *Reading) *Histogram { return &r.Decode })
	FieldE2E     = distribution("E2E", func(r *Reading) *Histogram { return &r.E2E })
)

// Origin is where a figure of a Reading comes from.
type Origin struct {
	Source string    `json:"source"`           // metric as on the page, or page and key: "vllm:kv_cache_usage_perc", "/slots n_prompt_tokens"
	At     time.Time `json:"at"`               // when that page was read
	Remark string    `json:"remark,omitempty"` // what is unusual about the figure; "" = nothing: "moves when a request ends"
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

// Put sets a figure that is known, with where it comes from.
func (r *Reading) Put(f Field, v opt.Float, from Origin) {
	if to := r.Figure(f); to != nil && v.OK {
		*to = v
		r.Origins[f] = from
	}
}

// Remark says what is unusual about a field that is known.
func (r *Reading) Remark(f Field, text string) {
	if o, known := r.Origins[f]; known {
		o.Remark = text
		r.Origins[f] = o
	}
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
