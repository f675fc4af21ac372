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
	Source string    // metric as on the page, or page and key: "vllm:kv_cache_usage_perc", "/slots n_prompt_tokens"
	At     time.Time // when that page was read
	Remark string    // what is unusual about the figure; "" = nothing: "moves when a request ends"
}

// figure returns where a reading keeps a gauge or counter; nil for distributions.
func (r *Reading) figure(f Field) *opt.Float {
	switch f {
	case FieldRunning:
		return &r.Running
	case FieldWaiting:
		return &r.Waiting
	case FieldPaused:
		return &r.Paused
	case FieldKVFill:
		return &r.KVFill
	case FieldKVCapacity:
		return &r.KVCapacityTokens
	case FieldKVBlocks:
		return &r.KVCapacityBlocks
	case FieldKVUsed:
		return &r.KVUsedTokens
	case FieldMaxModelLen:
		return &r.MaxModelLen
	case FieldMaxRunning:
		return &r.MaxRunning
	case FieldModelsLoaded:
		return &r.ModelsLoaded
	case FieldGPUShare:
		return &r.GPUShare
	case FieldServers:
		return &r.Servers
	case FieldOutputGauge:
		return &r.GenerationTokensPerS
	case FieldInputRate:
		return &r.PromptTokensPerS
	case FieldHitRateGauge:
		return &r.PrefixHitRate
	case FieldWaitingMean:
		return &r.WaitingMean
	}
	return r.counter(f)
}

// counter returns where a reading keeps a counter; nil if f is none.
func (r *Reading) counter(f Field) *opt.Float {
	switch f {
	case FieldPreemptions:
		return &r.Preemptions
	case FieldPromptTokens:
		return &r.PromptTokens
	case FieldGenerationTokens:
		return &r.GenerationTokens
	case FieldCachedTokens:
		return &r.CachedTokens
	case FieldPrefixQueries:
		return &r.PrefixQueries
	case FieldPrefixHits:
		return &r.PrefixHits
	case FieldLiveDecode:
		return &r.LiveDecodeTokens
	case FieldLivePrefill:
		return &r.LivePrefillTokens
	case FieldLiveCached:
		return &r.LiveCachedTokens
	case FieldRequestsOK:
		return &r.RequestsOK
	case FieldRequestsFailed:
		return &r.RequestsFailed
	case FieldRequestsAborted:
		return &r.RequestsAborted
	case FieldRequestsReceived:
		return &r.RequestsReceived
	}
	return nil
}

// distribution returns where a reading keeps a distribution; nil if f is none.
func (r *Reading) distribution(f Field) *Histogram {
	switch f {
	case FieldTTFT:
		return &r.TTFT
	case FieldGap:
		return &r.Gap
	case FieldTPOT:
		return &r.TPOT
	case FieldQueue:
		return &r.Queue
	case FieldPrefill:
		return &r.Prefill
	case FieldDecode:
		return &r.Decode
	case FieldE2E:
		return &r.E2E
	}
	return nil
}

// Origin tells where a field comes from, by the field's name; not known if the
// field is not.
func (r *Reading) Origin(field string) (o Origin, known bool) {
	o, known = r.Origins[Field(field)]
	return o, known
}
