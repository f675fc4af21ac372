// Package report holds what a run amounts to, and writes it in every format.
package report

import (
	"cmp"
	"math"
	"strconv"

	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/slo"
)

// Schema names the form of Summaries and SweepSummaries in files.
const Schema = "sonde/summary/1"

// Run is what the outcomes of one load and of a ladder of loads have in common.
type Run struct {
	Schema      string  `json:"schema"`
	Started     Instant `json:"started"`    // beginning of the measured window, or of the sweep
	DurationS   Number  `json:"duration_s"` // of that window, or of the whole sweep
	Interrupted bool    `json:"interrupted"`
	EndedEarly  Text    `json:"ended_early"` // why the run ended before it was done
	Seed        uint64  `json:"seed"`
	Target      Target  `json:"target"`
	Load        Load    `json:"load"` // of a sweep: what all levels have in common, with the amount of the first
}

// Summary is the outcome of a run at one load. Latencies are milliseconds,
// fractions 0 to 1; what is unknown is null in JSON.
type Summary struct {
	Run
	Requests        measure.Counts `json:"requests"`
	Errors          []ErrorCount   `json:"errors"`
	Notes           []string       `json:"notes"`
	Tokens          TokenCounts    `json:"tokens"`
	Lengths         Lengths        `json:"lengths"`
	LatencyMS       Latencies      `json:"latency_ms"`
	Turns           []Turn         `json:"turns,omitempty"` // of conversations
	Rates           Rates          `json:"rates"`
	ConcurrencyMean Number         `json:"concurrency_mean"`
	LittleRatio     Number         `json:"little_ratio"`
	GoodputPerS     Number         `json:"goodput_per_s"`
	GoodShare       Number         `json:"good_share"`
	SLO             []SLOResult    `json:"slo"`
	Engine          EngineFigures  `json:"engine"`
	GPUs            []GPUFigures   `json:"gpus"`
	Roofline        Roofline       `json:"roofline"`
	Client          ClientFigures  `json:"client"`
	Verdict         []Verdict      `json:"verdict"`
	Incidents       []Incident     `json:"incidents"`
	Clients         []MergedClient `json:"clients,omitempty"`       // of a merged Summary: who measured it
	Distributions   *Distributions `json:"distributions,omitempty"` // behind LatencyMS and Lengths; old files have none

	sm, dram Number // means over the GPUs
}

// ErrorCount is one message of failed requests.
type ErrorCount = level.ErrorCount

// Load is what was requested.
type Load struct {
	Mode string `json:"mode"` // "closed" or "open"
	Mark
	InputTokens  Number `json:"input_tokens"` // unknown for prompts from a file
	OutputTokens int    `json:"output_tokens"`
	InputSpread  Text   `json:"input_spread,omitzero"` // how lengths scatter around these means, as -i and -o take it; "": not at all
	OutputSpread Text   `json:"output_spread,omitzero"`
	Prefix       Text   `json:"prefix"`
	Turns        int    `json:"turns,omitempty"`  // user messages of a conversation; absent: requests stand alone
	ThinkS       Number `json:"think_s,omitzero"` // mean pause between two turns; closed loop only
	Arrivals     Text   `json:"arrivals"`         // "poisson", "constant" or "gamma:CV"; open loop only
	Ramp         Ramp   `json:"ramp"`             // that led to the rate
	Trace        Trace  `json:"trace"`            // whose arrivals and lengths were replayed; rate and lengths are its means
}

// Ramp is how the rate of an open loop came to where it stayed; unknown without one.
type Ramp struct {
	From  Number `json:"from"` // requests per second
	To    Number `json:"to"`
	OverS Number `json:"over_s"`
}

// Mark names a level by its load.
type Mark struct {
	Concurrency int    `json:"concurrency"` // streams in flight; their cap in the open loop
	Rate        Number `json:"rate"`        // requests per second; open loop only
}

// amount is how much load it is.
func (m Mark) amount() float64 { return m.Rate.Or(float64(m.Concurrency)) }

// TokenCounts are sums over the measured requests. Input and CachedInput are
// unknown as soon as one success came without a count of its prompt.
type TokenCounts struct {
	Input         Number `json:"input"`
	Output        int    `json:"output"`         // of requests that succeeded
	PartialOutput int    `json:"partial_output"` // of those that failed or were cancelled
	Reasoning     int    `json:"reasoning"`      // part of output
	CachedInput   Number `json:"cached_input"`   // part of input
	Source        Text   `json:"source"`
	PerChunk      Number `json:"per_chunk"`
}

// Distributions are those of requests that succeeded, whole.
type Distributions = level.Distributions

// Latencies describe the distributions of requests that succeeded.
type Latencies = measure.Latencies[Quantiles]

// Quantiles describes one distribution. Weak names the percentiles that have
// too few samples behind them.
type Quantiles struct {
	N    int      `json:"n"`
	Mean Number   `json:"mean"`
	Min  Number   `json:"min"`
	P50  Number   `json:"p50"`
	P90  Number   `json:"p90"`
	P95  Number   `json:"p95"`
	P99  Number   `json:"p99"`
	P999 Number   `json:"p999"`
	Max  Number   `json:"max"`
	Weak []string `json:"weak"`
	Std  Number   `json:"-"` // standard deviation, for formats that have it
}

// percentiles are those that a file holds of a distribution.
var percentiles = []struct {
	name  string
	share float64
	of    func(*Quantiles) Number
}{
	{"p50", 0.5, func(q *Quantiles) Number { return q.P50 }},
	{"p90", 0.9, func(q *Quantiles) Number { return q.P90 }},
	{"p95", 0.95, func(q *Quantiles) Number { return q.P95 }},
	{"p99", 0.99, func(q *Quantiles) Number { return q.P99 }},
	{"p999", 0.999, func(q *Quantiles) Number { return q.P999 }},
	{"", 1, func(q *Quantiles) Number { return q.Max }},
}

// Latency is the distribution of an SLO's metric.
func (s *Summary) Latency(metric string) *Quantiles {
	return s.LatencyMS.All()[measure.MetricNamed(metric)]
}

// Quantile is the quantile of that share; not held if files lack it.
func (q *Quantiles) Quantile(share float64) (value Number, held bool) {
	for _, p := range percentiles {
		if math.Abs(p.share-share) < 1e-9 {
			return p.of(q), true
		}
	}
	return Number{}, false
}

// Lengths are the prompts and the answers of the requests that succeeded, in tokens
// as the server counts. Prompts that nobody counted are in no figure of Input.
type Lengths struct {
	Input           Quantiles `json:"input"`
	Output          Quantiles `json:"output"`
	RequestedInput  Quantiles `json:"requested_input,omitzero"` // where they scatter
	RequestedOutput Quantiles `json:"requested_output,omitzero"`
}

// Prompt is the requested length of prompts in words.
func (l *Load) Prompt() string { return cmp.Or(string(l.InputSpread), whole(l.InputTokens)) }

// Answer is the requested length of answers in words.
func (l *Load) Answer() string { return cmp.Or(string(l.OutputSpread), strconv.Itoa(l.OutputTokens)) }

// Rates are those of a level, per second of the window and per minute.
type Rates struct {
	RequestsPerS     Number `json:"requests_per_s"`
	OutputPerS       Number `json:"output_tokens_per_s"`
	InputPerS        Number `json:"input_tokens_per_s"`
	TotalPerS        Number `json:"total_tokens_per_s"`
	RPM              Number `json:"rpm"`
	InputTPM         Number `json:"input_tpm"`
	OutputTPM        Number `json:"output_tpm"`
	TotalTPM         Number `json:"total_tpm"`
	OutputPerSStream Number `json:"output_tokens_per_s_per_stream"` // 1000 / mean TPOT
}

// SLOResult is how one SLO came out. Limit and Actual are
// milliseconds, for "success" shares. Met is unknown without samples.
type SLOResult struct {
	SLO      string `json:"slo"`
	Metric   string `json:"metric"`
	Quantile Number `json:"quantile"`
	Limit    Number `json:"limit"`
	Actual   Number `json:"actual"`
	Met      *bool  `json:"met"`
}

// ActualText is what came out, with its unit.
func (r *SLOResult) ActualText() string {
	if r.Metric == slo.Success {
		return percent(r.Actual)
	}
	return figure(r.Actual) + " ms"
}

// EngineFigures are the engine's own word on the window.
type EngineFigures struct {
	RunningMean   Number          `json:"running_mean"`
	WaitingMax    Number          `json:"waiting_max"`
	KVFillMean    Number          `json:"kv_fill_mean"`
	KVFillMax     Number          `json:"kv_fill_max"`
	Preemptions   Number          `json:"preemptions"`
	PrefixHitRate Number          `json:"prefix_hit_rate"`
	OutputPerS    Number          `json:"output_tokens_per_s"`
	LatencyMS     EngineLatencies `json:"latency_ms"`
}

// EngineLatencies are estimates from the buckets of the engine's histograms.
type EngineLatencies struct {
	TTFT  Estimate `json:"ttft"`
	Gap   Estimate `json:"gap"`
	Queue Estimate `json:"queue"`
	E2E   Estimate `json:"e2e"`
}

// Estimate describes a distribution that is known by buckets only. A quantile
// beyond the last finite bound is unknown; Above then has that bound. Below has
// the lowest bound where a quantile lies under it: no more is known of that one,
// and the estimate takes it as evenly spread down to 0.
type Estimate struct {
	N     int               `json:"n"`
	Mean  Number            `json:"mean"`
	P50   Number            `json:"p50"`
	P95   Number            `json:"p95"`
	P99   Number            `json:"p99"`
	Above map[string]Number `json:"above"`
	Below map[string]Number `json:"-"`
}

// GPUFigures are means over the window of one GPU.
type GPUFigures struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	SMMean     Number `json:"sm_mean"`
	DRAMMean   Number `json:"dram_mean"`
	BusyMean   Number `json:"busy_mean"`
	MemUsedMax Number `json:"mem_used_max"` // bytes
	PowerWMean Number `json:"power_w_mean"`
	Source     string `json:"source"`
}

// Roofline holds the lower bounds of the model on its hardware, for the batch and
// the lengths that were measured, and how far the run came up to the peaks.
type Roofline struct {
	TPOTFloorMS Number `json:"tpot_floor_ms"`
	TTFTFloorMS Number `json:"ttft_floor_ms"`
	MBU         Number `json:"mbu"`
	MFU         Number `json:"mfu"`
}

// ClientFigures say how well the client itself did.
type ClientFigures struct {
	Stamps         Text   `json:"stamps"`
	LateMSP99      Number `json:"late_ms_p99"` // the worst of the window
	CPU            Number `json:"cpu"`         // share of one core
	CoalescedShare Number `json:"coalesced_share"`
	Bottleneck     bool   `json:"bottleneck"`
	// Workers sent the load; none: this process did. The figures above are of the one that does worst.
	Workers []WorkerFigures `json:"workers,omitempty"`
}

// WorkerFigures say how a process did that sent a share of the load. What it sent counts from when it joined.
type WorkerFigures struct {
	Name          string `json:"name"`
	State         string `json:"state"`
	Sent          int64  `json:"sent"`
	OutputTokens  int64  `json:"output_tokens"`
	CPU           Number `json:"cpu"`
	LateMSP99     Number `json:"late_ms_p99"`
	ClockWithinMS Number `json:"clock_within_ms"` // its stamps, on the operator's clock, are right to this
	Doubt         Text   `json:"doubt"`           // why its figures may be about itself
}

// Verdict is one finding about the run. Advice is for people and not exported.
type Verdict struct {
	Rule     string   `json:"rule"`
	Says     string   `json:"says"`
	Evidence []string `json:"evidence"`
	Advice   string   `json:"-"`
}

// Incident is a stretch of the run in which the server was not well.
type Incident struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"` // the worst
	Says     string `json:"says"`
	FromS    Number `json:"from_s"` // since the session began
	ToS      Number `json:"to_s"`   // null: it went on at the end
}

// ExitCode is the code for the process to end with: 0 done, 1 nothing succeeded
// or an SLO was missed, 130 interrupted.
func (s Summary) ExitCode() int {
	if s.Interrupted {
		return 130
	}
	if s.Requests.OK == 0 {
		return 1
	}
	for _, r := range s.SLO {
		if r.Met != nil && !*r.Met {
			return 1
		}
	}
	return 0
}
