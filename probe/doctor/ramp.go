package doctor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// RampStep is one try at following a rate.
type RampStep struct {
	Asked     float64   `json:"asked_tokens_per_s"`
	Rate      float64   `json:"tokens_per_s"` // that came, while all streams were running
	Late      opt.Float `json:"late_ms_p99"`
	Behind    opt.Float `json:"server_late_ms_p99"` // the server behind its own schedule
	Cores     opt.Float `json:"client_cores"`
	AllCores  opt.Float `json:"all_cores"` // client and server
	Followed  bool      `json:"followed"`
	Objection string    `json:"objection,omitempty"` // why it was not followed
}

const (
	rampStreams  = 256
	rampFrom     = 5120.0 // tokens/s: 20 on each stream
	rampLeast    = 1280.0 // a machine that cannot follow this is too busy to tell anything
	rampStepTime = 2 * time.Second
	rampFine     = 1.2             // the search ends when failure is this near to success
	lateLimitMS  = 10.0            // reads later than this fall behind
	busyShare    = 0.95            // of all cores: nothing is left
	achieved     = 0.95            // of the asked rate, at least
	rampSlack    = 2 * time.Second // of a step beyond its streaming: the pool staggers the start of many streams
)

// climb looks for the highest rate that is followed: by doubling, then between
// the last success and the first failure, until the time is up.
func (c *Calibration) climb(ctx context.Context, g rig, until time.Time, progress func(string)) error {
	streams := rampStreams
	if fit, limited := streamsThatFit(g.server.OwnProcess); limited {
		streams = min(streams, fit)
	}
	low, high := 0.0, 0.0
	for next := rampFrom; next > 0 && time.Until(until) > rampStepTime+rampSlack; next = nextRate(low, high) {
		progress(fmt.Sprintf("%s tokens/s over %d streams", thousands(next), streams))
		l := demand{streams: streams, perSecond: next / float64(streams)}
		seen, err := g.run(ctx, round{demand: l, requests: streams, tokens: int(rampStepTime.Seconds() * l.perSecond)})
		if err != nil {
			return err
		}
		step := judge(next, seen, float64(c.Cores))
		c.Ramp = append(c.Ramp, step)
		if step.Followed {
			low = next
			c.HighestTokensPerS = opt.Of(step.Rate)
		} else {
			high = next
			c.Limit = step.Objection
		}
	}
	return nil
}

// nextRate is the next rate to try; low was followed, high was not (0: none was).
// It is 0 when the two are near enough.
func nextRate(low, high float64) float64 {
	switch {
	case high == 0:
		return 2 * low
	case low == 0 && high <= rampLeast:
		return 0
	case low == 0:
		return high / 2
	case high/low < rampFine:
		return 0
	}
	return math.Sqrt(low * high)
}

// judge tells whether a rate was followed.
func judge(asked float64, o observed, cores float64) RampStep {
	late, behind := measure.NewDist(exactUpTo), measure.NewDist(exactUpTo)
	for _, a := range o.client {
		for _, ms := range a.late {
			late.Add(float64(ms))
		}
	}
	var first, last []int64
	for _, r := range o.server {
		for i, wrote := range r.WroteNS {
			behind.Add(max(0, float64(wrote-r.DueNS-int64(i)*int64(o.gap))) / nsPerMS)
		}
		first, last = append(first, r.WroteNS[0]), append(last, r.WroteNS[len(r.WroteNS)-1])
	}
	s := RampStep{Asked: asked, Rate: o.steady.rate(), Late: quantile(late, 0.99), Behind: quantile(behind, 0.99)}
	if o.steady.lasted > 0 {
		s.Cores = o.steady.cpu.Scale(1 / o.steady.lasted.Seconds())
	}
	if span := span(first, last); s.Cores.OK && o.serverCPU > 0 && span > 0 {
		s.AllCores = opt.Of(s.Cores.V + o.serverCPU.Seconds()/span.Seconds())
	}
	s.Objection = s.object(cores)
	s.Followed = s.Objection == ""
	return s
}

// object says why the step does not count as followed; "" if it does.
func (s RampStep) object(cores float64) string {
	switch {
	case s.Late.Or(0) > lateLimitMS:
		return fmt.Sprintf("reads were %.0f ms late (p99)", s.Late.V)
	case s.AllCores.Or(0) > busyShare*cores:
		return fmt.Sprintf("client and scripted server together took %.1f of %.0f cores", s.AllCores.V, cores)
	case s.Rate == 0:
		return "this machine is too busy to run all streams at once"
	case s.Rate < achieved*s.Asked && s.Behind.Or(0) > lateLimitMS:
		return "the scripted server cannot send faster: the client's own limit lies higher"
	case s.Rate < achieved*s.Asked:
		return fmt.Sprintf("only %s tokens/s came", thousands(s.Rate))
	}
	return ""
}

// rate is tokens per second.
func (s spell) rate() float64 {
	if s.lasted <= 0 {
		return 0
	}
	return float64(s.tokens) / s.lasted.Seconds()
}

// span is the time from the earliest of one list to the latest of the other.
func span(first, last []int64) time.Duration {
	if len(first) == 0 {
		return 0
	}
	return time.Duration(slices.Max(last) - slices.Min(first))
}
