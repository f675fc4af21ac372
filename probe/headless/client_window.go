package headless

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// bottleneckShare is the part of the window in which the client may have been
// in the way before the whole run is doubted.
const bottleneckShare = 0.05

// clientWindow tells how well the client did within the window.
type clientWindow struct {
	stamps string
	why    string // why the client was in the way, as last told
	cpu    opt.TimeMean
	late   opt.TimeMean
	total  time.Duration
	behind time.Duration // part of total in which the client was the bottleneck
}

func (c *clientWindow) add(h frame.Health, held time.Duration) {
	c.stamps = h.Stamps
	c.cpu.Add(h.CPU, held)
	c.late.Add(opt.Of(h.LateMsP99), held)
	c.total += held
	if h.Bottleneck {
		c.behind += held
		c.why = h.Why
	}
}

func (c *clientWindow) bottleneck() bool {
	return c.total > 0 && float64(c.behind) > bottleneckShare*float64(c.total)
}

func (c *clientWindow) figures(coalesced opt.Float) ClientFigures {
	return ClientFigures{
		Stamps: Text(c.stamps), LateMSP99: number(c.late.Max()), CPU: number(c.cpu.Mean()),
		CoalescedShare: share(coalesced), Bottleneck: c.bottleneck(),
	}
}

// note says when the client was in the way, even if only for a moment.
func (c *clientWindow) note() string {
	if c.behind == 0 {
		return ""
	}
	part := 100 * float64(c.behind) / float64(c.total)
	return fmt.Sprintf("this client was the bottleneck for %.0f %% of the window: %s", max(1, part), c.why)
}
