package setup

import (
	"sonde/config"
	"sonde/probe/sweep"
)

// Ladder is what `sonde sweep` is to try.
func Ladder(c config.Config) sweep.Plan {
	l := wanted(c)
	after := l
	after.Concurrency, after.Rate = 0, 0
	p := sweep.Plan{Load: l, Open: c.Sweep.Open, Rungs: c.Sweep.Amounts, PerLevel: c.Sweep.PerLevel, After: after}
	if p.Open {
		p.From, p.Cap = c.Rate, mostRate
	} else {
		p.From, p.Cap = float64(c.Concurrency), float64(c.MaxConcurrency)
	}
	return p
}

// mostRate bounds the rates of an automatic ladder, in requests per second.
const mostRate = 100_000
