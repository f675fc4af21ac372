package headless

import (
	"fmt"
	"strings"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// Progress is where a run stands.
type Progress struct {
	Phase       Phase
	ElapsedS    float64 // seconds of the window so far
	OfS         float64 // seconds planned; 0 = no limit
	Ended       int     // measured requests that ended
	OfRequests  int     // requests planned; 0 = no limit
	InFlight    int
	Failed      int
	OutTokensPS opt.Float // output tokens per second over the live window
}

func (a *Accumulator) progress(f *frame.Frame) Progress {
	return Progress{
		Phase: a.time.phase, ElapsedS: a.time.length().Seconds(), OfS: a.plan.Duration.Seconds(),
		Ended: a.time.ended, OfRequests: a.plan.Requests,
		InFlight: f.Client.InFlight, Failed: a.counts.requests.Failed,
		OutTokensPS: opt.Of(f.Client.OutTokensPerS),
	}
}

// Line is the progress in one line of plain text.
func (p Progress) Line() string {
	parts := []string{p.Phase.String()}
	if p.OfS > 0 {
		parts = append(parts, fmt.Sprintf("%.0f of %.0f s", p.ElapsedS, p.OfS))
	}
	if p.OfRequests > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d requests", p.Ended, p.OfRequests))
	} else {
		parts = append(parts, fmt.Sprintf("%d requests", p.Ended))
	}
	parts = append(parts, fmt.Sprintf("%d in flight", p.InFlight), figure(p.OutTokensPS)+" tok/s")
	if p.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", p.Failed))
	}
	return strings.Join(parts, " · ")
}

// String is the phase in words.
func (p Phase) String() string {
	switch p {
	case Loading:
		return "the model is loading"
	case Warmup, Settling:
		return "warming up"
	case Measuring:
		return "measuring"
	case Draining:
		return "draining"
	case Cutting:
		return "stopping"
	case Done:
		return "done"
	}
	return "starting"
}
