package simtest

import (
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/frame"
	"sonde/probe/sim"
)

// A prompt of 8,192 tokens beside four decoding streams takes 0.8 s of arithmetic. In pieces
// of 2,048 tokens no gap of the others is longer than a piece takes, a fifth of a
// second and some; whole, they all wait for all of it.
func TestChunkedPrefillIsSwitchedWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Start(t, sim.Options{}, probe.Options{Load: frame.Load{Concurrency: 4, InputTokens: 64, OutputTokens: 2000}})
		longest := func() (ms float64) {
			r.Session.FireLong()
			r.Play(5*time.Second, func(f *frame.Frame) {
				for _, gap := range f.Client.SliceGaps {
					ms = max(ms, float64(gap))
				}
			})
			return ms
		}
		r.Play(5 * time.Second)
		if got := longest(); got < 190 || got > 280 {
			t.Errorf("in pieces: a gap of %.0f ms, want 190 to 280", got)
		}
		if err := r.Engine.Flip("chunked prefill"); err != nil {
			t.Fatal(err)
		}
		if got := longest(); got < 750 || got > 1000 {
			t.Errorf("whole: a gap of %.0f ms, want 750 to 1,000", got)
		}
	})
}
