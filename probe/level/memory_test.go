package level

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// A table that is full: 256 levels of 2,100 requests each, of 23,100
// gaps, take less than 60 MB.
func TestMemoryOfAFullBook(t *testing.T) {
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
			for range 210 {
				q := request(m.at-200*time.Millisecond, time.Duration(1+r.IntN(50e6)), time.Duration(60e6+r.IntN(100e6)))
				for k := range q.GapsMS {
					q.GapsMS[k] = 20 * r.Float32()
				}
				q.GapsMS, q.Chunks, q.OutTokens = append(q.GapsMS, 1), 12, 12+r.IntN(50)
				f.Requests = append(f.Requests, q)
			}
			b.Add(f)
		}
	}
	if grown := heap() - before; grown > 60<<20 {
		t.Errorf("%d MB", grown>>20)
	}
	if n := len(b.Levels()); n != maxLevels {
		t.Errorf("%d levels", n)
	}
	runtime.KeepAlive(b)
}
