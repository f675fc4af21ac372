package measure

import (
	"iter"
	"time"

	"sonde/probe/opt"
)

// Client is the client's own truth about one slice of time and the live window
// that ends with it. Latencies are milliseconds.
type Client struct {
	InFlight      int           // requests that began and have not ended
	Prefill       int           // of these, without a token yet
	Retrying      int           // workers that wait because the server refused them
	OldestWaiting time.Duration // age of the oldest request without a token; 0 if none

	// Since the start, or since the last reset of statistics.
	Sent, OK, Failed, Cancelled int
	ByClass                     map[Class]int
	LastError                   string // control codes removed

	Window                            time.Duration // length of the live window
	TTFT, TTFA, TPOT, Gap, E2E, Setup Summary       // samples of the live window
	RequestsPerS                      float64       // rates over the live window
	InTokensPerS, OutTokensPerS       float64
	Level                             LevelStats // the current level's own numbers
	SliceTTFT, SliceTPOT              []float64  // samples of this slice, for charts
	SliceGaps                         []float32  // the gaps that closed in this slice, ms; see EachSliceGap
	SliceGapCounts                    []int      // how many gaps each of SliceGaps stands for; nil: one
	SliceInTokens, SliceOutTokens     int
	SliceRequests                     int
	InputTokens, OutputTokens         opt.Float // mean measured lengths, live window
	TokensPerChunk                    opt.Float // live window; a gap is a token only near 1
	TokensEstimated                   bool      // counts are chunks, not usage
	CachedShare                       opt.Float // share of prompt tokens that the server's prefix cache answered
	ConcurrencyMean                   opt.Float // time-weighted, live window
	Little                            opt.Float // in flight / (rate × mean E2E), about 1 in a steady state
}

// LevelStats are the numbers of requests that started and ended at the current
// setting after it settled.
type LevelStats struct {
	TTFT, TPOT, E2E Summary
	OutTokensPerS   float64
}

// EachSliceGap goes through the gaps that closed in the slice: milliseconds, and how
// many gaps that long.
func (c *Client) EachSliceGap() iter.Seq2[float64, int] {
	return func(yield func(float64, int) bool) {
		for i, ms := range c.SliceGaps {
			n := 1
			if i < len(c.SliceGapCounts) {
				n = c.SliceGapCounts[i]
			}
			if !yield(float64(ms), n) {
				return
			}
		}
	}
}
