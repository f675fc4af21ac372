package diagnose

import (
	"time"

	"sonde/probe/frame"
)

// levelPoint is what one settled level has brought so far.
type levelPoint struct {
	level         int
	load          frame.Load
	from, to      time.Duration // when it settled; the newest Frame of it
	outTokens     int           // that arrived in between
	ended         int           // requests that succeeded in between
	e2eP50        float64       // ms
	ttftP95       float64       // ms
	outTokensPerS float64
}

// judged tells that the throughput can be trusted: it covers the answers of every
// stream twice over, so that streams in step with each other are no matter.
func (p *levelPoint) judged() bool {
	const rounds, shortest = 2, 5 * time.Second
	length := p.to - p.from
	return p.ended >= enough && length >= shortest && length >= rounds*milliseconds(p.e2eP50)
}

// addLevel counts a Frame of a settled level. Tokens count by arrival: requests
// that began before it settled bring theirs, too.
func (h *history) addLevel(f *frame.Frame) {
	if !f.Load.Settled {
		return
	}
	n := len(h.levels)
	if n == 0 || h.levels[n-1].level != f.Load.Level {
		const kept = 64
		h.levels = append(h.levels, levelPoint{level: f.Load.Level, load: f.Load.Asked, from: f.At, to: f.At})
		h.levels = h.levels[max(0, len(h.levels)-kept):]
		return
	}
	p := &h.levels[n-1]
	p.to = f.At
	p.outTokens += f.Client.SliceOutTokens
	for i := range f.Requests {
		if isSuccess(&f.Requests[i]) {
			p.ended++
		}
	}
	p.outTokensPerS = float64(p.outTokens) / (p.to - p.from).Seconds()
	p.ttftP95, p.e2eP50 = f.Client.Level.TTFT.P95, f.Client.Level.E2E.P50
}
