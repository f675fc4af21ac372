package report

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"sonde/probe/opt"
	plaintext "sonde/probe/plain"
)

// vllmResult has the names of the result file of vLLM's `vllm bench serve
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
type vllmResult struct {
	Date           Text        `json:"date"` // UTC
	EndpointType   string      `json:"endpoint_type"`
	Backend        string      `json:"backend"`
	Label          string      `json:"label"`
	ModelID        Text        `json:"model_id"`
	TokenizerID    Text        `json:"tokenizer_id"` // always null: the server counts
	NumPrompts     int         `json:"num_prompts"`
	RequestRate    requestRate `json:"request_rate"`
	Burstiness     Number      `json:"burstiness"` // 1 is Poisson; null for constant arrivals, which are its infinity
	MaxConcurrency int         `json:"max_concurrency"`

	Duration       Number `json:"duration"` // s
	Completed      int    `json:"completed"`
	Failed         int    `json:"failed"`
	TotalInput     Number `json:"total_input_tokens"`
	TotalOutput    int    `json:"total_output_tokens"`
	RequestsPerS   Number `json:"request_throughput"`
	GoodputPerS    Number `json:"request_goodput"`
	OutputPerS     Number `json:"output_throughput"`
	TotalPerS      Number `json:"total_token_throughput"`
	PeakOutputPerS Number `json:"max_output_tokens_per_s"` // always null
	PeakInFlight   Number `json:"max_concurrent_requests"` // always null
}

// requestRate is requests per second, or "inf" where no rate was requested.
type requestRate struct{ opt.Float }

// MarshalJSON writes "inf" for the closed loop.
func (r requestRate) MarshalJSON() ([]byte, error) {
	if !r.OK {
		return []byte(`"inf"`), nil
	}
	return r.Float.MarshalJSON()
}

// WriteVLLM writes one line of JSON, as that tool appends it to a file.
func (s Summary) WriteVLLM(w io.Writer) error {
	raw, err := json.Marshal(s.vllmResult())
	if err != nil {
		return err
	}
	raw = raw[:len(raw)-1] // figures of latencies follow
	for _, metric := range []struct {
		name string
		q    *Quantiles
	}{{"ttft", &s.LatencyMS.TTFT}, {"tpot", &s.LatencyMS.TPOT}, {"itl", &s.LatencyMS.Gap}, {"e2el", &s.LatencyMS.E2E}} {
		for _, f := range []struct {
			prefix string
			value  Number
		}{
			{"mean", metric.q.Mean}, {"median", metric.q.P50}, {"std", metric.q.Std}, {"p50", metric.q.P50},
			{"p90", metric.q.P90}, {"p95", metric.q.P95}, {"p99", metric.q.P99}, {"p99.9", metric.q.P999},
		} {
			value, err := f.value.MarshalJSON()
			if err != nil {
				return err
			}
			raw = append(raw, `,"`+f.prefix+"_"+metric.name+`_ms":`...)
			raw = append(raw, value...)
		}
	}
	_, err = w.Write(append(plaintext.EscapeJSON(raw), "}\n"...))
	return err
}

func (s *Summary) vllmResult() vllmResult {
	backend := "openai-chat"
	if url, _, _ := strings.Cut(string(s.Target.URL), "?"); !strings.HasSuffix(url, "/chat/completions") {
		backend = "openai"
	}
	r := vllmResult{
		EndpointType: backend, Backend: backend, Label: "sonde", ModelID: s.Target.Model,
		NumPrompts: s.Requests.Sent, RequestRate: requestRate{s.Load.Rate}, Burstiness: opt.Of(1), MaxConcurrency: s.Load.Concurrency,
		Duration: s.DurationS, Completed: s.Requests.OK, Failed: s.Requests.Failed,
		TotalInput: s.Tokens.Input, TotalOutput: s.Tokens.Output,
		RequestsPerS: s.Rates.RequestsPerS, GoodputPerS: s.GoodputPerS, OutputPerS: s.Rates.OutputPerS, TotalPerS: s.Rates.TotalPerS,
	}
	if s.Load.Rate.OK && !s.Load.Poisson {
		r.Burstiness = opt.Float{}
	}
	if at := time.Time(s.Started); !at.IsZero() {
		r.Date = Text(at.UTC().Format("20060102-150405"))
	}
	return r
}
