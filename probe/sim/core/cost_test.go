package core

import (
	"testing"
	"time"
)

// BenchmarkIteration is what an iteration of 512 decoding streams costs us, planning
// and ending it. At 30 tokens/s each there are 30 of them a second.
func BenchmarkIteration(b *testing.B) {
	for name, o := range map[string]Options{"plain": {}, "speculation": {SpecTokens: 3}} {
		b.Run(name+"/512 streams", func(b *testing.B) {
			o.MaxSeqs, o.KVGB, o.MaxModelLen = 512, 50, 300000
			s, err := o.Resolve()
			if err != nil {
				b.Fatal(err)
			}
			c := newEngine(s)
			var now time.Duration
			start := func() {
				for i := range 512 {
					c.submit(NewSequence(exactly(prompt(100, uint32(i)), 400), &c.Setup), now)
				}
			}
			tokens := 0
			for b.Loop() {
				if len(c.running)+len(c.waiting) == 0 {
					b.StopTimer()
					start()
					b.StartTimer()
				}
				it, _ := c.begin(now)
				now = it.End
				tokens += len(c.finish(now))
			}
			b.ReportMetric(float64(tokens)/float64(b.N), "yields/op")
		})
	}
}
