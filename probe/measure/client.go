package measure

import (
	"time"

	"sonde/probe/opt"
)

// A gap is that of one token while there are about as many tokens as chunks.
const (
	ManyPerChunk = 1.2 // tokens: more come together
	FewPerChunk  = 0.8 // tokens: every chunk with text has one at least, so that some were not counted
)

// Client is the client's own truth about one slice of time and the live window
// that ends with it. Latencies are milliseconds.
type Client struct {
	InFlight      int           `json:"in_flight"`             // requests that began and have not ended
	Prefill       int           `json:"prefill"`               // of these, without a token yet
	Thinking      int           `json:"thinking,omitempty"`    // streams between two turns of a conversation: part of the load, not in flight
	Retrying      int           `json:"retrying"`              // streams that wait because the server refused them
	RetryAt       time.Duration `json:"retry_at_ms,omitempty"` // since the session began: when the first of them tries again
	OldestWaiting time.Duration `json:"oldest_waiting_ms"`     // age of the oldest request without a token; 0 if none

	// Since the start, or since the last reset of statistics.
	Counts           // Sent includes those in flight
	LastError string `json:"last_error,omitempty"` // control codes removed

	Window          time.Duration `json:"window_ms"`     // length of the live window
	TTFT            Summary       `json:"ttft,omitzero"` // samples of the live window
	TTFA            Summary       `json:"ttfa,omitzero"`
	TPOT            Summary       `json:"tpot,omitzero"`
	Gap             Summary       `json:"gap,omitzero"`
	E2E             Summary       `json:"e2e,omitzero"`
	Setup           Summary       `json:"setup,omitzero"`
	RequestsPerS    float64       `json:"requests_per_s"` // rates over the live window
	InTokensPerS    float64       `json:"input_tokens_per_s"`
	OutTokensPerS   float64       `json:"output_tokens_per_s"`
	Level           LevelStats    `json:"level,omitzero"`          // the current level's own numbers
	SliceTTFT       []float64     `json:"slice_ttft_ms,omitempty"` // samples of this slice, for charts
	SliceTPOT       []float64     `json:"slice_tpot_ms,omitempty"`
	SliceGaps       []float32     `json:"slice_gaps_ms,omitempty"`    // the gaps that closed in this slice, ms; see EachSliceGap
	SliceGapCounts  []int         `json:"slice_gap_counts,omitempty"` // how many gaps each of SliceGaps stands for; nil: one
	SliceInTokens   int           `json:"slice_input_tokens"`
	SliceOutTokens  int           `json:"slice_output_tokens"`
	SliceRequests   int           `json:"slice_requests"`
	InputTokens     opt.Float     `json:"input_tokens_mean"` // mean measured lengths, live window
	OutputTokens    opt.Float     `json:"output_tokens_mean"`
	TokensPerChunk  opt.Float     `json:"tokens_per_chunk"` // live window; a gap is a token only near 1
	TokensEstimated bool          `json:"tokens_estimated"` // counts are chunks, not usage
	CachedShare     opt.Float     `json:"cached_share"`     // share of prompt tokens that the server's prefix cache answered
	ConcurrencyMean opt.Float     `json:"concurrency_mean"` // time-weighted, live window
	Little          opt.Float     `json:"little"`           // in flight / (rate × mean E2E), about 1 in a steady state
}

// LevelStats are the numbers of requests that started and ended at the current
// setting after it settled.
type LevelStats struct {
	TTFT          Summary `json:"ttft,omitzero"`
	TPOT          Summary `json:"tpot,omitzero"`
	E2E           Summary `json:"e2e,omitzero"`
	OutTokensPerS float64 `json:"output_tokens_per_s"`
}
