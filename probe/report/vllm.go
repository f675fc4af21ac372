package report

import (
	"encoding/json"
	"strings"

	"sonde/probe/arrivals"
	"sonde/probe/opt"
	"sonde/probe/plain"
)

// VLLM is one line of JSON with the names of the result file of vLLM's `vllm bench serve
// --save-result`, so that scripts for those files read ours. What we do not have
// is null; lists of single requests, which that tool writes only with
// --save-detailed, are omitted. Where definitions differ it holds ours:
//
//   - ttft begins at the first byte written on a ready connection, there before
//     the connection is made; e2el ends with the last token, there with the end of
//     the answer.
//   - itl is our gap: the time between two chunks with tokens, as there.
//   - tpot omits the tokens of the first chunk; there it is one token.
//   - duration is the measured window, without warm-up and drain, and throughputs
//     are of that window; there both reach to the end of the last request.
//   - Percentiles interpolate linearly and deviations divide by n, as there.
func (s Summary) VLLM() (string, error) {
	result := map[string]any{
		"date": nil, "label": "sonde", "model_id": s.Target.Model, "tokenizer_id": nil, // the server counts
		"num_prompts": s.Requests.Sent, "max_concurrency": s.Load.Concurrency,
		"request_rate": "inf", // of the closed loop
		"burstiness":   1,     // shape of the gamma distribution of gaps, 1 for Poisson; null for constant ones: infinity
		"duration":     s.DurationS, "completed": s.Requests.OK, "failed": s.Requests.Failed,
		"total_input_tokens": s.Tokens.Input, "total_output_tokens": s.Tokens.Output,
		"request_throughput": s.Rates.RequestsPerS, "request_goodput": s.GoodputPerS,
		"output_throughput": s.Rates.OutputPerS, "total_token_throughput": s.Rates.TotalPerS,
		"max_output_tokens_per_s": nil, "max_concurrent_requests": nil,
	}
	backend := "openai-chat"
	if url, _, _ := strings.Cut(string(s.Target.URL), "?"); !strings.HasSuffix(url, "/chat/completions") {
		backend = "openai"
	}
	result["endpoint_type"], result["backend"] = backend, backend
	if s.Load.Rate.OK {
		result["request_rate"] = s.Load.Rate
		result["burstiness"] = burstiness(s.Load.Arrivals)
	}
	if !s.Started.IsZero() {
		result["date"] = s.Started.UTC().Format("20060102-150405")
	}
	l := &s.LatencyMS
	for metric, q := range map[string]*Quantiles{"ttft": &l.TTFT, "tpot": &l.TPOT, "itl": &l.Gap, "e2el": &l.E2E} {
		for figure, v := range map[string]Number{
			"mean": q.Mean, "median": q.P50, "std": q.Std, "p50": q.P50, "p90": q.P90, "p95": q.P95, "p99": q.P99, "p99.9": q.P999,
		} {
			result[figure+"_"+metric+"_ms"] = v
		}
	}
	raw, err := json.Marshal(result)
	return string(plain.EscapeJSON(raw)) + "\n", err
}

// burstiness is the shape of the gamma distribution of gaps; unknown for a trace, whose gaps are its own.
func burstiness(text Text) Number {
	p, err := arrivals.Parse(string(text))
	if err != nil || p == arrivals.Constant {
		return Number{}
	}
	return Rounded(opt.Of(1 / (p.CV * p.CV)))
}
