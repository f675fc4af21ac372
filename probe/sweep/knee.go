package sweep

import (
	"fmt"
	"math"
	"strings"
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
	At           Row // the level at the knee
	Below, Above Row // the next levels on both sides, between which it lies
	Top          Row // the largest load that was measured
	// Output tokens/s for each unit of load added, from Below to At and from At to
	// Top.
	GainBelow, GainAbove float64
	Exhausted            Resource
	Says                 string   // one sentence
	Evidence             []string // figures that it rests on
}

// clearly is by how much the power at the knee has to stand above that at both
// ends of the curve, so that scatter makes no knee.
const clearly = 1.1

// FindKnee finds the knee of a curve, smallest load first; why says what is missing
// if there is none.
func FindKnee(curve []Row) (knee *Knee, why string) {
	points := usable(curve)
	if len(points) < 3 {
		return nil, "a knee takes at least three settled levels"
	}
	best := peak(points)
	last := len(points) - 1
	switch {
	case best == last || power(&points[best]) < clearly*power(&points[last]):
		return nil, fmt.Sprintf("throughput still rises at %s: the knee, if there is one, lies beyond", Describe(points[last].Load))
	case best == 0 || power(&points[best]) < clearly*power(&points[0]):
		return nil, fmt.Sprintf("throughput hardly rises from %s on: the knee, if there is one, lies at or below it", Describe(points[0].Load))
	}
	k := &Knee{At: points[best], Below: points[best-1], Above: points[best+1], Top: points[last]}
	k.GainBelow, k.GainAbove = gain(&k.Below, &k.At), gain(&k.At, &k.Top)
	k.judge()
	return k, ""
}

// usable are the levels whose throughput can be trusted.
func usable(curve []Row) []Row {
	var out []Row
	for _, r := range curve {
		if r.Settled && r.E2E.N > 0 && r.E2E.Mean > 0 && r.OutTokensPerS.OK && throughput(&r) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// throughput is requests per second. In a closed loop it follows from the mean length of
// a request by Little's law, which is steadier than a count: streams that began together go
// on in waves, and a stretch seldom holds whole ones.
func throughput(r *Row) float64 {
	if r.Load.Rate > 0 {
		return r.RequestsPerS.Or(0)
	}
	return 1000 * float64(r.Load.Concurrency) / r.E2E.Mean
}

// power is throughput over response time, in requests/s².
func power(r *Row) float64 { return 1000 * throughput(r) / r.E2E.Mean }

// inFlight is what is in flight: as asked in a closed loop, by Little's law in an open
// one.
func inFlight(r *Row) float64 { return throughput(r) * r.E2E.Mean / 1000 }

// gain is output tokens/s for each unit of load added.
func gain(a, b *Row) float64 {
	if d := b.Amount() - a.Amount(); d > 0 {
		return (b.OutTokensPerS.V - a.OutTokensPerS.V) / d
	}
	return 0
}

// elasticity is how throughput follows what is in flight from one level to the
// next: 1 is in proportion, 0 not at all.
func elasticity(a, b *Row) float64 {
	grown := math.Log(inFlight(b) / inFlight(a))
	if !(grown > 0) {
		return 1
	}
	return math.Log(throughput(b)/throughput(a)) / grown
}

// judge puts the knee into words.
func (k *Knee) judge() {
	at, top := &k.At, &k.Top
	var why string
	k.Exhausted, why = exhausted(at, top)
	one, _ := unit(at.Load)
	k.Says = fmt.Sprintf("knee at %s: each %s more brings %s tok/s up to %s, and %s beyond",
		Describe(at.Load), one, number(k.GainBelow), amount(at.Load), number(max(0, k.GainAbove)))
	if k.Exhausted != UnknownResource {
		k.Says += "; " + k.Exhausted.String() + " is exhausted"
	}
	k.Evidence = append(k.evidence(), why)
}

// evidence are the figures along the levels that the knee is seen at.
func (k *Knee) evidence() []string {
	at, above, top := &k.At, &k.Above, &k.Top
	shown := []*Row{&k.Below, at, above}
	if top.Load != above.Load {
		shown = append(shown, top)
	}
	along := func(of func(*Row) string) string {
		parts := make([]string, len(shown))
		for i, r := range shown {
			parts[i] = of(r)
		}
		return strings.Join(parts, " → ")
	}
	_, several := unit(at.Load)
	out := []string{
		along(func(r *Row) string { return amount(r.Load) }) + " " + several + ": throughput " +
			along(func(r *Row) string { return number(r.OutTokensPerS.V) }) + " tok/s",
		fmt.Sprintf("elasticity of throughput: %.2f before, %.2f after", elasticity(&k.Below, at), elasticity(at, top)),
	}
	if at.TTFT.N > 0 && top.TTFT.N > 0 {
		out = append(out, "TTFT p95 "+along(func(r *Row) string { return number(r.TTFT.P95) })+" ms")
	}
	if at.Waiting.OK && top.Waiting.OK {
		out = append(out, "waiting in the engine "+along(func(r *Row) string { return figure(r.Waiting) }))
	}
	if at.KV.OK && top.KV.OK {
		out = append(out, "KV cache "+along(func(r *Row) string { return figure(r.KV.Scale(100)) })+" % full")
	}
	if top.Little.OK {
		out = append(out, fmt.Sprintf("Little's law at %s: %s requests/s × %s ms = %s in flight, %s counted", Describe(top.Load),
			number(top.RequestsPerS.V), number(top.E2E.Mean), number(top.RequestsPerS.V*top.E2E.Mean/1000), number(top.InFlight.V)))
	}
	return out
}
