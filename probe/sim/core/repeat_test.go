package core

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// event is all that a client can see of a token.
type event struct {
	at      time.Duration
	request int
	word    uint16
	end     FinishReason
}

// play runs the same scenario: 60 requests at random moments, some alike, some given
// up, on an engine with everything that draws lots.
func play(t *testing.T, seed uint64) (events []event) {
	b := newBench(t, Options{Seed: seed, KVGB: 0.6, SpecTokens: 3, MaxSeqs: 16})
	random := rand.New(rand.NewPCG(5, 6)) // the load is not the engine's
	index := map[*Sequence]int{}
	b.onYield = func(y Output) {
		for _, w := range y.words {
			events = append(events, event{b.now, index[y.Seq], w, y.End})
		}
	}
	for i := range 60 {
		s := b.submit(Request{Prompt: prompt(50+random.IntN(300), uint32(i%20)), MaxTokens: 300, Seed: uint64(i)})
		index[s] = i
		for range random.IntN(30) {
			b.step(nil)
		}
		if i%7 == 0 {
			b.core.abort(s)
		}
	}
	b.drain()
	return events
}

func TestSameSeedSameTokens(t *testing.T) {
	one, again, other := play(t, 7), play(t, 7), play(t, 8)
	if len(one) < 5000 {
		t.Fatalf("only %d tokens: too few to show anything", len(one))
	}
	if !slices.Equal(one, again) {
		t.Error("the same seed played twice gave different tokens or instants")
	}
	if slices.Equal(one, other) {
		t.Error("another seed changed nothing")
	}
}

// Hours of engine time: the numbers must stay sound when nothing starts anew.
func TestALongDay(t *testing.T) {
	b := newBench(t, Options{MaxSeqs: 8})
	got := closedLoop{streams: 2, ask: varied(100, 100), warmup: time.Minute, window: 2 * time.Hour}.run(b)
	if got.requests < 5000 {
		t.Errorf("%d requests in two hours", got.requests)
	}
	near(t, "rate × time", got.perS*got.e2e, 2, 0.001)
}
