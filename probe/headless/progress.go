package headless

import (
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/report"
)

func (a *Accumulator) progress(f *frame.Frame) report.Progress {
	return report.Progress{
		Phase: a.time.phase.String(), ElapsedS: a.time.length().Seconds(), OfS: a.plan.Duration.Seconds(),
		Ended: a.time.ended, OfRequests: a.plan.Requests,
		InFlight: f.Client.InFlight, Failed: a.counts.requests.Failed,
		OutTokensPS: opt.Of(f.Client.OutTokensPerS),
	}
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
