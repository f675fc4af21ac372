package sweep

import (
	"fmt"

	"sonde/probe/level"
)

// Knee is the load at which more of it stops paying: where throughput over response time,
// Kleinrock's power, is largest. With N in flight, Little's law makes
// it X²/N of the throughput X, and its largest value lies where the elasticity of X in N falls
// through one half: a doubling of the load brings less than √2 times the throughput there.
// For a service that saturates as X = N/(a+b·N), and for one that is flat from a limit
// on, that is also where the asymptotes of light and heavy load meet (Kleinrock,
// "Power and deterministic rules of thumb", ICC 1979; Lazowska et al., Quantitative System
// Performance, 5.2).
type Knee struct {
	At           level.Level // the level at the knee
	Below, Above level.Level // the next levels on both sides, between which it lies
	Top          level.Level // the largest load that was measured
	// Output tokens/s for each unit of load added, from Below to At and from At to
	// Top.
	GainBelow, GainAbove float64
	Limit                Limit // what the load beyond the knee runs into
}

// FindKnee finds the knee of a curve, smallest load first; if there is none it says why.
func FindKnee(curve []level.Level) (k *Knee, whyNot string) {
	points := usable(curve)
	if len(points) < 3 {
		return nil, "a knee takes at least three settled levels"
	}
	best := peak(points)
	last := len(points) - 1
	switch {
	case best == last || level.Power(&points[best]) < level.Clearly*level.Power(&points[last]):
		return nil, fmt.Sprintf("throughput still rises at %s: the knee, if there is one, lies beyond", Describe(points[last].Load))
	case best == 0 || level.Power(&points[best]) < level.Clearly*level.Power(&points[0]):
		return nil, fmt.Sprintf("throughput hardly rises from %s on: the knee, if there is one, lies at or below it", Describe(points[0].Load))
	}
	k = &Knee{At: points[best], Below: points[best-1], Above: points[best+1], Top: points[last]}
	k.GainBelow, k.GainAbove = gain(&k.Below, &k.At), gain(&k.At, &k.Top)
	k.Limit = limitOf(&k.At, &k.Top)
	return k, ""
}

// usable are the levels whose throughput can be trusted.
func usable(curve []level.Level) []level.Level {
	var out []level.Level
	for i := range curve {
		if l := &curve[i]; l.Settled && l.E2E.N > 0 && l.E2E.Mean > 0 && l.OutTokensPerS.OK && level.Throughput(l) > 0 {
			out = append(out, *l)
		}
	}
	return out
}

// gain is output tokens/s for each unit of load added.
func gain(a, b *level.Level) float64 {
	if d := b.Amount() - a.Amount(); d > 0 {
		return (b.OutTokensPerS.V - a.OutTokensPerS.V) / d
	}
	return 0
}
