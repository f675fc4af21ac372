package diagnose

import (
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/opt"
)

// Eight prompts of 2,048 tokens may be read and not yet answered: 16,384 tokens that
// the engine counts and we do not are ours. Of 30,000 the other 13,616 are foreign.
func TestPromptsOfOurOwnAreNotForeign(t *testing.T) {
	for _, c := range []struct{ read, foreign float64 }{{0, 0}, {10000, 0}, {16384, 0}, {30000, 13616}} {
		h := scene(func(f *frame.Frame) {
			f.Load.Requested.InputTokens, f.Load.Requested.Concurrency = 2048, 8
			f.Client.InFlight, f.Client.InputTokens, f.Client.SliceInTokens = 8, opt.Of(2048.), 0
			f.Engine.Reading.PromptTokens = opt.Of(0.)
			if f.At > 10*time.Second {
				f.Engine.Reading.PromptTokens = opt.Of(c.read)
			}
		}).history
		if got := h.foreign().tokens; !got.OK || got.V != c.foreign {
			t.Errorf("%g tokens read: %v foreign, want %g", c.read, got, c.foreign)
		}
	}
}
