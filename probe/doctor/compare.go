package doctor

import (
	"fmt"
	"math"
	"time"

	"sonde/probe/doctor/truth"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// RoundErrors is what one load did to the measurement.
type RoundErrors struct {
	Streams    int       `json:"streams"`
	TokensPerS float64   `json:"tokens_per_s"` // asked, of all streams together
	Pattern    string    `json:"pattern"`      // "spread" or "steps"
	TLS        bool      `json:"tls"`
	Stamps     string    `json:"stamps"`           // source of the client's stamps: "kernel" or "read"
	TTFT       ErrorsMS  `json:"ttft_error_ms"`    // measured − true, absolute
	Gap        ErrorsMS  `json:"gap_error_ms"`     // measured − true, absolute
	Late       opt.Float `json:"late_ms_p99"`      // our reads behind the arrivals
	Doubt      opt.Float `json:"truth_ms_p99"`     // how long a write took: the truth is known no better
	CPUUS      opt.Float `json:"cpu_us_per_token"` // of the client's process, all streams running; with the server's if that has none of its own
	Lost       int       `json:"lost"`             // requests without a usable answer
	Problem    string    `json:"problem,omitempty"`
}

// ErrorsMS are absolute errors in milliseconds.
type ErrorsMS struct {
	N   int       `json:"n"`
	P50 opt.Float `json:"p50"`
	P99 opt.Float `json:"p99"`
	Max opt.Float `json:"max"`
}

// exactUpTo is how many samples are kept as they are.
const exactUpTo = 1 << 20

// compare holds what the client measured against what the server knows.
func compare(l demand, o observed) RoundErrors {
	e := RoundErrors{
		Streams: l.streams, TokensPerS: float64(l.streams) * l.perSecond, Pattern: "spread", TLS: l.tls, Stamps: o.stamps,
	}
	if l.inSteps {
		e.Pattern = "steps"
	}
	ttft, gap := measure.NewDist(exactUpTo), measure.NewDist(exactUpTo)
	late, doubt := measure.NewDist(exactUpTo), measure.NewDist(exactUpTo)
	for i := range o.server {
		r := &o.server[i]
		a := o.client[r.Request]
		if a == nil || a.class != measure.OK || len(a.at) != len(r.WroteNS) || len(a.at) == 0 {
			continue
		}
		ttft.Add(ttftErrorMS(a, r))
		for _, ms := range gapErrorsMS(a, r) {
			gap.Add(ms)
		}
		for i, ms := range a.late {
			late.Add(float64(ms))
			doubt.Add(float64(r.TookNS[i]) / nsPerMS)
		}
	}
	e.TTFT, e.Gap = errorsMS(ttft), errorsMS(gap)
	e.Late, e.Doubt = quantile(late, 0.99), quantile(doubt, 0.99)
	e.CPUUS = o.steady.cpuUSPerToken()
	e.Lost = len(o.client) - ttft.N()
	e.Problem = problem(o.client, e.Lost)
	return e
}

const nsPerMS = float64(time.Millisecond)

// ttftErrorMS compares the client's t0 to first token with the server's arrival
// of the request to first write.
func ttftErrorMS(a *arrival, r *truth.Record) float64 {
	measured := float64(a.at[0] - a.start)
	return math.Abs(measured-float64(r.WroteNS[0]-r.ArrivedNS)) / nsPerMS
}

func gapErrorsMS(a *arrival, r *truth.Record) []float64 {
	var errors []float64
	for i := 1; i < len(a.at); i++ {
		measured := float64(a.at[i] - a.at[i-1])
		errors = append(errors, math.Abs(measured-float64(r.WroteNS[i]-r.WroteNS[i-1]))/nsPerMS)
	}
	return errors
}

// problem says why requests were lost, in the words of one of them.
func problem(seen map[int]*arrival, lost int) string {
	if lost == 0 {
		return ""
	}
	for _, a := range seen {
		if a.class != measure.OK {
			return fmt.Sprintf("%s: %s", a.class, a.says)
		}
	}
	return "tokens were missed"
}

func errorsMS(d *measure.Dist) ErrorsMS {
	return ErrorsMS{N: d.N(), P50: quantile(d, 0.5), P99: quantile(d, 0.99), Max: quantile(d, 1)}
}

func quantile(d *measure.Dist, q float64) opt.Float {
	ms, ok := d.Quantile(q)
	if !ok {
		return opt.Float{}
	}
	return opt.Of(ms)
}

// cpuUSPerToken is what a token cost, in microseconds.
func (s spell) cpuUSPerToken() opt.Float {
	if s.tokens == 0 {
		return opt.Float{}
	}
	return s.cpu.Scale(1e6 / float64(s.tokens))
}
