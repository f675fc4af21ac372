package sim

import (
	"maps"
	"slices"
)

// stats count since the start.
type stats struct {
	preemptions      int
	prefixQueries    int // tokens
	prefixHits       int // tokens
	promptTokens     int // with cached ones
	generationTokens int
	finished         map[finish]int

	drafts      int   // steps with draft tokens
	draftTokens int   // in them
	acceptedAt  []int // draft tokens that the model agreed with, by their place behind the token that was due
}

func newStats(specTokens int) *stats {
	return &stats{finished: map[finish]int{}, acceptedAt: make([]int, specTokens)}
}

// acceptedTokens are the draft tokens that became part of an answer, or would have
// if it had not ended before.
func (s *stats) acceptedTokens() (sum int) {
	for _, n := range s.acceptedAt {
		sum += n
	}
	return sum
}

func (s *stats) clone() stats {
	c := *s
	c.finished, c.acceptedAt = maps.Clone(s.finished), slices.Clone(s.acceptedAt)
	return c
}
