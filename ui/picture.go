package ui

import (
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/sweep"
)

// picture is everything that panels draw from: the newest Frame, the history, and
// the wish that the operator has expressed but that no Frame may show yet. While
// the screen is paused it stays as it was.
type picture struct {
	frame   *frame.Frame
	have    bool // frame is a real one
	history *history
	wish    frame.Load // always as it stands, also while paused
	slos    []SLOLine
	silent  time.Duration        // how long no Frame has come
	play    *frame.PlaybackState // where a recording is; nil for a live session

	verdicts []diagnose.Verdict // strongest first
	checked  diagnose.Checked
	levels   levels // as they were when they were last on the screen
	sweep    sweep.Status
}

// verdict is the strongest one.
func (p *picture) verdict() diagnose.Verdict {
	if len(p.verdicts) == 0 {
		return diagnose.Verdict{}
	}
	return p.verdicts[0]
}

// limits gives the service levels of a latency: "ttft" matches "ttft_p95".
func (p *picture) limits(metric string) []SLOLine {
	var of []SLOLine
	for _, s := range p.slos {
		name := s.Metric
		if name == metric || len(name) > len(metric) && name[:len(metric)] == metric && name[len(metric)] == '_' {
			of = append(of, s)
		}
	}
	return of
}
