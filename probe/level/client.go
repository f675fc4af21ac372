package level

import (
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// Client is how well the client itself did.
type Client struct {
	Stamps    string    // "kernel" or "read"
	LateMSP99 opt.Float // the worst of the slices
	CPU       opt.Float // mean, cores
	Behind    float64   // share of the time in which the client was the bottleneck
	BehindWhy string    // how it was, as last reported; "" if it was not
}

// doubtFrom is the share of the time from which on a client that is the bottleneck makes
// the whole level doubtful.
const doubtFrom = 0.05

// Doubtful reports whether the figures may be about the client.
func (c *Client) Doubtful() bool { return c.Behind > doubtFrom }

type clientTally struct {
	stamps, why   string
	cpu, late     opt.TimeMean
	total, behind time.Duration
}

func (c *clientTally) add(h *frame.Health, held time.Duration) {
	if held == 0 {
		return
	}
	c.stamps = h.Stamps
	c.cpu.Add(h.CPU, held)
	c.late.Add(opt.Of(h.LateMsP99), held)
	c.total += held
	if h.Bottleneck {
		c.behind += held
		c.why = h.Why
	}
}

func (c *clientTally) figures() Client {
	out := Client{Stamps: c.stamps, LateMSP99: c.late.Max(), CPU: c.cpu.Mean(), BehindWhy: c.why}
	if c.total > 0 {
		out.Behind = float64(c.behind) / float64(c.total)
	}
	return out
}
