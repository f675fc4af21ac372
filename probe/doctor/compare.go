package doctor

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
)

// RoundErrors are the errors of the measurement under one load.
type RoundErrors struct {
	Round
	Stamps      string    `json:"stamps"`           // source of the client's stamps: "kernel" or "read"
	TTFT        ErrorsMS  `json:"ttft_error_ms"`    // measured − true, absolute
	Gap         ErrorsMS  `json:"gap_error_ms"`     // measured − true, absolute
	Late        opt.Float `json:"late_ms_p99"`      // our reads behind the arrivals
	Doubt       opt.Float `json:"truth_ms_p99"`     // how long a write took: the truth is known no better
	Interrupted int       `json:"interrupted"`      // writes that took so long that they are left out
	CPUUS       opt.Float `json:"cpu_us_per_token"` // of the client's process, while all streams ran
	Lost        int       `json:"lost"`             // requests without a usable answer
	Problem     string    `json:"problem,omitempty"`
}

// ErrorsMS are absolute errors in milliseconds.
type ErrorsMS struct {
	N   int       `json:"n"`
	P50 opt.Float `json:"p50"`
	P99 opt.Float `json:"p99"`
	Max opt.Float `json:"max"`
}

const (
	exactUpTo = 1 << 20 // samples that are kept as they are
	nsPerMS   = float64(time.Millisecond)

	// interrupted is how long a write takes at most whose instant is known. In a longer one
	// the server lost the processor between its clock and the socket.
	interrupted = int64(time.Millisecond)
)

// compare takes the errors of what the client measured from what the server knows.
func compare(r Round, o observed) RoundErrors {
	e := RoundErrors{Round: r, Stamps: o.stamps}
	ttft, gap := measure.NewDist(exactUpTo), measure.NewDist(exactUpTo)
	late, doubt := measure.NewDist(exactUpTo), measure.NewDist(exactUpTo)
	e.Lost = len(o.client)
	for i := range o.server {
		s := &o.server[i]
		a := o.client[s.Request]
		if a == nil || len(a.at) != len(s.WroteNS) || len(a.at) == 0 {
			continue
		}
		e.Lost--
		before, wrote, known := a.start, s.ArrivedNS, true
		into := ttft
		for j, at := range a.at {
			late.Add(float64(a.late[j]))
			was := known
			if known = s.TookNS[j] <= interrupted; !known {
				e.Interrupted++
			} else {
				doubt.Add(float64(s.TookNS[j]) / nsPerMS)
			}
			if was && known { // the two sides have clocks of their own: only durations compare
				into.Add(math.Abs(float64(int64(at-before)-(s.WroteNS[j]-wrote))) / nsPerMS)
			}
			before, wrote, into = at, s.WroteNS[j], gap
		}
	}
	e.TTFT, e.Gap = errorsMS(ttft), errorsMS(gap)
	e.Late, e.Doubt = quantile(late, 0.99), quantile(doubt, 0.99)
	if o.tokens > 0 {
		e.CPUUS = o.cpu.Scale(1e6 / float64(o.tokens))
	}
	if e.Lost > 0 {
		e.Problem = cmp.Or(o.problem, "tokens were missed")
	}
	return e
}

func errorsMS(d *measure.Dist) ErrorsMS {
	return ErrorsMS{N: d.N(), P50: quantile(d, 0.5), P99: quantile(d, 0.99), Max: quantile(d, 1)}
}

func quantile(d *measure.Dist, q float64) opt.Float {
	ms, ok := d.Quantile(q)
	return opt.Float{V: ms, OK: ok}
}

// RampStep is one rate of the search for the highest.
type RampStep struct {
	Asked     float64   `json:"asked_tokens_per_s"`
	Rate      float64   `json:"tokens_per_s"` // that arrived, while all streams were running
	Late      opt.Float `json:"late_ms_p99"`
	Behind    opt.Float `json:"server_late_ms_p99"` // the server behind its own schedule
	Cores     opt.Float `json:"client_cores"`
	AllCores  opt.Float `json:"all_cores"` // client and server
	Followed  bool      `json:"followed"`
	Objection string    `json:"objection,omitempty"` // why it does not count as followed
}

// judge decides whether the client kept up with a rate.
func judge(load Round, o observed, cores float64) RampStep {
	late, behind := measure.NewDist(exactUpTo), measure.NewDist(exactUpTo)
	for _, a := range o.client {
		for _, ms := range a.late {
			late.Add(float64(ms))
		}
	}
	first, last := int64(math.MaxInt64), int64(0)
	for _, r := range o.server {
		for i, wrote := range r.WroteNS {
			behind.Add(max(0, float64(wrote-r.DueNS-int64(i)*int64(load.gap()))) / nsPerMS)
			first, last = min(first, wrote), max(last, wrote)
		}
	}
	s := RampStep{Asked: load.TokensPerS, Late: quantile(late, 0.99), Behind: quantile(behind, 0.99)}
	if lasted := o.lasted.Seconds(); lasted > 0 {
		s.Rate, s.Cores = float64(o.tokens)/lasted, o.cpu.Scale(1/lasted)
	}
	if s.Cores.OK && o.serverCPU > 0 && last > first {
		s.AllCores = opt.Of(s.Cores.V + float64(o.serverCPU)/float64(last-first))
	}
	s.Objection = s.object(cores)
	s.Followed = s.Objection == ""
	return s
}

const (
	lateLimitMS = 10.0 // reads later than this fall behind
	busyShare   = 0.95 // of all cores: nothing is left
	achieved    = 0.95 // of the requested rate, at least
)

// object says why the step does not count as followed; "" if it does.
func (s RampStep) object(cores float64) string {
	switch {
	case s.Late.Or(0) > lateLimitMS:
		return fmt.Sprintf("reads were %.0f ms late (p99)", s.Late.V)
	case s.AllCores.Or(0) > busyShare*cores:
		return fmt.Sprintf("client and scripted server together used %.1f of %.0f cores", s.AllCores.V, cores)
	case s.Rate == 0:
		return "this machine is too busy to run all streams at once"
	case s.Rate < achieved*s.Asked && s.Behind.Or(0) > lateLimitMS:
		return "the scripted server cannot send faster (the client's own limit is higher)"
	case s.Rate < achieved*s.Asked:
		return fmt.Sprintf("only %s tokens/s arrived", units.WholeCommas(s.Rate))
	}
	return ""
}
