package core

import (
	"testing"
)

func TestAnswersEndByThemselves(t *testing.T) {
	b := newBench(t, Options{})
	var stopped, limited int
	for i := range 60 {
		s := b.submit(Request{Prompt: prompt(20, uint32(i)), MaxTokens: 180, MinTokens: 100})
		b.drain()
		switch n := s.Generated(); {
		case s.ended == FinishStop && n >= 100 && n < 180:
			stopped++
		case s.ended == FinishLength && n == 180:
			limited++
		default:
			t.Fatalf("%d tokens, ended by %q", n, s.ended)
		}
	}
	if stopped < 10 || limited < 10 { // 180 is the median
		t.Errorf("%d ended by themselves, %d at the limit, of 60", stopped, limited)
	}
}

func TestSameSeedSameAnswer(t *testing.T) {
	run := func(engineSeed, seed uint64) (words []uint16) {
		s := NewSequence(Request{Prompt: prompt(20, 1), MaxTokens: 2000, Seed: seed}, &Setup{Options: Options{Seed: engineSeed, BlockTokens: 16}})
		for range s.length {
			words = append(words, s.append(0))
		}
		return words
	}
	same := func(a, b []uint16) bool {
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				return false
			}
		}
		return len(a) == len(b)
	}
	if !same(run(1, 1), run(1, 1)) {
		t.Error("the same request got two answers")
	}
	if same(run(1, 1), run(2, 1)) || same(run(1, 1), run(1, 2)) {
		t.Error("another seed made no difference")
	}
}

// Whoever submits a request stamps its arrival, maybe a moment after the time to which the engine has come:
// no time of the request is negative even so.
func TestTimesOfARequestAreInOrder(t *testing.T) {
	s := NewSequence(Request{Prompt: prompt(20, 1), MaxTokens: 2}, &Setup{Options: Options{BlockTokens: 16}})
	s.Arrived, s.Scheduled = 5, 5
	s.append(3)
	s.append(4)
	if s.First != 5 || s.Last != 5 {
		t.Errorf("first token at %d, last at %d, of a request scheduled at 5", s.First, s.Last)
	}
}
