package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"sonde/probe/api"
	"sonde/probe/arrivals"
	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/prompt"
)

// starts notes when requests start, and answers at once.
type starts struct {
	epoch time.Time
	mu    sync.Mutex
	at    []time.Duration
}

func (s *starts) Do(context.Context, api.Call, api.Observer) api.Result {
	at := time.Since(s.epoch)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, at)
	return api.Result{}
}

// BenchmarkReplay replays five seconds of 500 requests per second with prompts of 1,000 tokens, and reports how
// late they start.
func BenchmarkReplay(b *testing.B) {
	const rate = 500
	r := rand.New(rand.NewPCG(1, 2))
	trace := &arrivals.Trace{Name: "t"}
	for at := 0.0; at < 5; at += r.ExpFloat64() / rate {
		trace.Arrivals = append(trace.Arrivals, arrivals.Arrival{At: time.Duration(at * 1e9), In: 1000, Out: 8})
	}
	for b.Loop() {
		s := &starts{epoch: time.Now()}
		c := collect.NewCollector(func() (int, time.Duration) { return 0, 0 })
		p := New(Options{Doer: s, Prompts: prompt.NewSynthetic(prompt.Unique, 1), NewTrack: c.NewTrack, Epoch: s.epoch, Exact: true, Trace: trace, Fail: func(err error) { b.Error(err) }})
		p.Set(frame.Load{Concurrency: 256, Rate: rate, Trace: "t"})
		for !p.Replay().Ended {
			time.Sleep(100 * time.Millisecond)
		}
		p.mu.Lock()
		since := p.trace.since
		p.mu.Unlock()
		p.Close()
		slices.Sort(s.at)
		var late []float64
		for i, at := range s.at {
			late = append(late, float64(at-since-trace.Arrivals[i].At)/1e6)
		}
		slices.Sort(late)
		for _, q := range []float64{0.5, 0.99, 0.999, 1} {
			b.ReportMetric(late[min(len(late)-1, int(q*float64(len(late))))], fmt.Sprintf("ms-late-p%g", 100*q))
		}
	}
}
