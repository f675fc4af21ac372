package level

import "math"

// Clearly is by how much the Power of one level has to stand above that of another, so that
// scatter makes no knee.
const Clearly = 1.1

// Throughput is requests per second. In a closed loop it follows from the mean length of
// a request by Little's law, which is steadier than a count: streams that began together go
// on in waves, and a stretch seldom holds whole ones.
func Throughput(l *Level) float64 {
	if l.Load.Rate > 0 {
		return l.RequestsPerS.Or(0)
	}
	return 1000 * float64(l.Load.Concurrency) / l.E2E.Mean
}

// Power is throughput over response time, in requests/s².
func Power(l *Level) float64 { return 1000 * Throughput(l) / l.E2E.Mean }

// InFlight is what is in flight: as requested in a closed loop, by Little's law in an open
// one.
func InFlight(l *Level) float64 { return Throughput(l) * l.E2E.Mean / 1000 }

// Elasticity is how throughput follows what is in flight from one level to the
// next: 1 is in proportion, 0 not at all.
func Elasticity(a, b *Level) float64 {
	grown := math.Log(InFlight(b) / InFlight(a))
	if !(grown > 0) {
		return 1
	}
	return math.Log(Throughput(b)/Throughput(a)) / grown
}

// PastKnee reports whether the larger load is past the knee: its Power is clearly below that of the
// smaller one. A doubling of the load that brings less than 1.35 times the throughput is.
func PastKnee(smaller, larger *Level) bool { return Power(smaller) >= Clearly*Power(larger) }
