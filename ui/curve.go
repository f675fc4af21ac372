package ui

import (
	"slices"

	"sonde/probe"
)

// curve is throughput and TTFT against concurrency: one point for each settled
// level at the present lengths. A level that is measured again replaces its
// older point; other lengths begin a new curve, because the points of two
// lengths cannot be compared.
type curve struct {
	inputTokens, outputTokens int
	points                    []curvePoint // by concurrency
}

type curvePoint struct {
	concurrency   int
	outTokensPerS float64
	ttftP95MS     float64
	n             int // requests behind it
}

func (c *curve) fold(f *probe.Frame) {
	asked, level := f.Load.Asked, &f.Client.Level
	if asked.InputTokens != c.inputTokens || asked.OutputTokens != c.outputTokens {
		*c = curve{inputTokens: asked.InputTokens, outputTokens: asked.OutputTokens}
	}
	if f.Load.Level == 0 || !f.Load.Settled || level.TTFT.N == 0 || asked.Rate > 0 {
		return
	}
	c.put(curvePoint{asked.Concurrency, level.OutTokensPerS, level.TTFT.P95, level.TTFT.N})
}

func (c *curve) put(p curvePoint) {
	at, found := slices.BinarySearchFunc(c.points, p.concurrency, func(q curvePoint, want int) int {
		return q.concurrency - want
	})
	if found {
		c.points[at] = p
		return
	}
	c.points = slices.Insert(c.points, at, p)
}

func (c curve) clone() curve {
	c.points = slices.Clone(c.points)
	return c
}
