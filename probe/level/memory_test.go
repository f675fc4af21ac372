package level

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// A table that is full: 256 levels take less than 60 MB, be it of 2,040 requests each, whose
// samples all stay exact and take the most, or of 2,100, whose samples are rounded; their 20,000 gaps
// lie on a scale of four decades.
func TestMemoryOfAFullBook(t *testing.T) {
	for _, perFrame := range []int{204, 210} {
		memoryOfAFullBook(t, perFrame)
	}
}

func memoryOfAFullBook(t *testing.T, perFrame int) {
	t.Helper()
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	b := NewBook(nil)
	m := &film{}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range maxLevels + 4 {
		m.turn(i + 1)
		m.settle = true
		b.Add(m.next())
		for range 10 {
			f := m.next()
			for range perFrame {
				q := request(m.at-200*time.Millisecond, time.Duration(1+r.IntN(50e6)), time.Duration(60e6+r.IntN(100e6)))
				for k := range q.GapsMS {
					q.GapsMS[k] = float32(math.Exp(9 * r.Float64()))
				}
				q.GapsMS, q.Chunks, q.OutTokens = append(q.GapsMS, 1), 12, 12+r.IntN(50)
				q.HaveAnswer, q.Answer, q.Setup = true, q.First, time.Duration(r.IntN(1e6))
				f.Requests = append(f.Requests, q)
			}
			b.Add(f)
		}
	}
	if grown := heap() - before; grown > 60<<20 {
		t.Errorf("%d MB with %d requests a level", grown>>20, 10*perFrame)
	}
	if n := len(b.Levels()); n != maxLevels {
		t.Errorf("%d levels", n)
	}
	runtime.KeepAlive(b)
}
