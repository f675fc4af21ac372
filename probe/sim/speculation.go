package sim

import "math/rand/v2"

// Speculative decoding: a decode step carries k draft tokens besides the one that is
// due, and computes k+1 tokens. The model agrees with each draft with the same
// probability a, and everything behind its first disagreement is thrown away, so that
// a step yields (1−a^(k+1))/(1−a) tokens on average (Leviathan et al., arXiv
// 2211.17192). Making the drafts costs nothing here, as when they are looked up in
// the prompt.

// draftsFor is how many drafts the next step of s carries. They need room in the
// budget, and below the longest length that a sequence may have.
func (c *core) draftsFor(s *sequence, budget int) int {
	if c.SpecTokens == 0 || s.generated() == 0 || s.pending() != 1 {
		return 0
	}
	return max(0, min(c.SpecTokens, budget-1, c.MaxModelLen-len(s.tokens)))
}

// verify tells how many of the drafts in this step the model agrees with.
func (c *core) verify(s *sequence) (accepted int) {
	if s.drafts == 0 {
		return 0
	}
	c.stats.drafts++
	c.stats.draftTokens += s.drafts
	for accepted < s.drafts && s.luck.Float64() < c.SpecAcceptance {
		c.stats.acceptedAt[accepted]++
		accepted++
	}
	s.drafts = 0
	return accepted
}

// luckOf is what decides about the drafts of one request: from the same seeds as its
// words, but apart from them, so that the words stay the same with other drafts.
func luckOf(engineSeed, whole uint64) *rand.Rand {
	const another = 0x9e3779b97f4a7c15
	return rand.New(rand.NewPCG(engineSeed^another, whole))
}
