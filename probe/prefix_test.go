package probe_test

import (
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe"
	"sonde/probe/frame"
	"sonde/probe/sim"
	"sonde/probe/simtest"
)

// Prompts that are all the same need no prefill but for their last block: a prompt
// of 2,048 tokens in blocks of 16 has 127 whole blocks before its end, 99 %.
func TestPrefixOfPromptsIsChangedWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simtest.Start(t, sim.Options{}, probe.Options{Prefix: "unique", Load: frame.Load{Concurrency: 1, InputTokens: 2048, OutputTokens: 16}})
		var last *frame.Frame
		newest := func(f *frame.Frame) { last = f }
		r.Play(10*time.Second, newest)
		cold := last.Client.TTFT.P50
		if hits := last.Engine.Reading.PrefixHitRate; last.Load.Requested.Prefix != "unique" || !hits.OK || hits.V > 0.01 {
			t.Errorf("prefix %q, hits %v", last.Load.Requested.Prefix, hits)
		}
		l := r.Session.Load()
		l.Prefix = "same"
		r.Session.SetLoad(l)
		r.Play(40*time.Second, newest)
		if hits := last.Engine.Reading.PrefixHitRate; last.Load.Level != 2 || !hits.OK || hits.V < 0.98 || last.Client.TTFT.P50 > cold/5 {
			t.Errorf("level %d, hits %v, TTFT %v ms after %v", last.Load.Level, hits, last.Client.TTFT.P50, cold)
		}
		l.Prefix = "nonsense" // stays what it was asked for at the start
		r.Session.SetLoad(l)
		if got := r.Session.Load().Prefix; got != "unique" {
			t.Errorf("prefix %q", got)
		}
	})
}
