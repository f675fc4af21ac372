package record

import (
	"math"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// clientLine is the client's part of a Frame. Distributions are milliseconds
// and missing when they have no sample.
type clientLine struct {
	InFlight      int    `json:"in_flight"`
	Prefill       int    `json:"prefill"`
	Retrying      int    `json:"retrying"`
	OldestWaiting millis `json:"oldest_waiting_ms"`

	Sent      int                   `json:"sent"`
	OK        int                   `json:"ok"`
	Failed    int                   `json:"failed"`
	Cancelled int                   `json:"cancelled"`
	ByClass   map[measure.Class]int `json:"by_class,omitempty"`
	LastError string                `json:"last_error,omitempty"`

	Window       millis      `json:"window_ms"`
	TTFT         summaryLine `json:"ttft,omitzero"`
	TTFA         summaryLine `json:"ttfa,omitzero"`
	TPOT         summaryLine `json:"tpot,omitzero"`
	Gap          summaryLine `json:"gap,omitzero"`
	E2E          summaryLine `json:"e2e,omitzero"`
	Setup        summaryLine `json:"setup,omitzero"`
	RequestsPerS finite      `json:"requests_per_s"`
	InPerS       finite      `json:"input_tokens_per_s"`
	OutPerS      finite      `json:"output_tokens_per_s"`
	Level        levelLine   `json:"level,omitzero"`

	SliceTTFT samples `json:"slice_ttft_ms,omitempty"`
	SliceTPOT samples `json:"slice_tpot_ms,omitempty"`
	SliceGaps gaps    `json:"slice_gaps_ms,omitempty"`

	SliceGapCounts []int `json:"slice_gap_counts,omitempty"`
	SliceIn        int   `json:"slice_input_tokens"`
	SliceOut       int   `json:"slice_output_tokens"`
	SliceRequests  int   `json:"slice_requests"`

	InputTokens  opt.Float `json:"input_tokens_mean"`
	OutputTokens opt.Float `json:"output_tokens_mean"`
	PerChunk     opt.Float `json:"tokens_per_chunk"`
	Estimated    bool      `json:"tokens_estimated"`
	CachedShare  opt.Float `json:"cached_share"`
	Concurrency  opt.Float `json:"concurrency_mean"`
	Little       opt.Float `json:"little"`
}

type summaryLine struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

type levelLine struct {
	TTFT    summaryLine `json:"ttft,omitzero"`
	TPOT    summaryLine `json:"tpot,omitzero"`
	E2E     summaryLine `json:"e2e,omitzero"`
	OutPerS finite      `json:"output_tokens_per_s"`
}

// fromSummary drops the figures of an empty distribution: they mean nothing and
// need not be numbers.
func fromSummary(s measure.Summary) summaryLine {
	sum := s.Mean + s.Min + s.P50 + s.P90 + s.P95 + s.P99 + s.P999 + s.Max
	if s.N == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return summaryLine{}
	}
	return summaryLine(s)
}

func fromClient(c *measure.Client) clientLine {
	return clientLine{
		InFlight: c.InFlight, Prefill: c.Prefill, Retrying: c.Retrying, OldestWaiting: millis(c.OldestWaiting),
		Sent: c.Sent, OK: c.OK, Failed: c.Failed, Cancelled: c.Cancelled, ByClass: c.ByClass, LastError: c.LastError,
		Window: millis(c.Window),
		TTFT:   fromSummary(c.TTFT), TTFA: fromSummary(c.TTFA), TPOT: fromSummary(c.TPOT),
		Gap: fromSummary(c.Gap), E2E: fromSummary(c.E2E), Setup: fromSummary(c.Setup),
		RequestsPerS: finite(c.RequestsPerS), InPerS: finite(c.InTokensPerS), OutPerS: finite(c.OutTokensPerS),
		Level: levelLine{
			TTFT: fromSummary(c.Level.TTFT), TPOT: fromSummary(c.Level.TPOT), E2E: fromSummary(c.Level.E2E),
			OutPerS: finite(c.Level.OutTokensPerS),
		},
		SliceTTFT: c.SliceTTFT, SliceTPOT: c.SliceTPOT, SliceGaps: c.SliceGaps, SliceGapCounts: c.SliceGapCounts,
		SliceIn: c.SliceInTokens, SliceOut: c.SliceOutTokens, SliceRequests: c.SliceRequests,
		InputTokens: c.InputTokens, OutputTokens: c.OutputTokens, PerChunk: c.TokensPerChunk,
		Estimated: c.TokensEstimated, CachedShare: c.CachedShare, Concurrency: c.ConcurrencyMean, Little: c.Little,
	}
}

func (l *clientLine) client() measure.Client {
	return measure.Client{
		InFlight: l.InFlight, Prefill: l.Prefill, Retrying: l.Retrying, OldestWaiting: time.Duration(l.OldestWaiting),
		Sent: l.Sent, OK: l.OK, Failed: l.Failed, Cancelled: l.Cancelled, ByClass: l.ByClass, LastError: l.LastError,
		Window: time.Duration(l.Window),
		TTFT:   measure.Summary(l.TTFT), TTFA: measure.Summary(l.TTFA), TPOT: measure.Summary(l.TPOT),
		Gap: measure.Summary(l.Gap), E2E: measure.Summary(l.E2E), Setup: measure.Summary(l.Setup),
		RequestsPerS: float64(l.RequestsPerS), InTokensPerS: float64(l.InPerS), OutTokensPerS: float64(l.OutPerS),
		Level: measure.LevelStats{
			TTFT: measure.Summary(l.Level.TTFT), TPOT: measure.Summary(l.Level.TPOT), E2E: measure.Summary(l.Level.E2E),
			OutTokensPerS: float64(l.Level.OutPerS),
		},
		SliceTTFT: l.SliceTTFT, SliceTPOT: l.SliceTPOT, SliceGaps: l.SliceGaps, SliceGapCounts: l.SliceGapCounts,
		SliceInTokens: l.SliceIn, SliceOutTokens: l.SliceOut, SliceRequests: l.SliceRequests,
		InputTokens: l.InputTokens, OutputTokens: l.OutputTokens, TokensPerChunk: l.PerChunk,
		TokensEstimated: l.Estimated, CachedShare: l.CachedShare, ConcurrencyMean: l.Concurrency, Little: l.Little,
	}
}
