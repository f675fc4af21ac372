package sim

import (
	"fmt"
	"math"
)

// Reasoning is how much a model thinks before it answers: a share of the answer's
// tokens below 1, a number of tokens from 1 on, 0 not at all.
type Reasoning float64

func (r Reasoning) check() error {
	if v := float64(r); !(v >= 0) || v > 1e6 || v >= 1 && v != math.Trunc(v) {
		return fmt.Errorf("simulated engine: reasoning has to be a share below 1 or a whole number of tokens, not %g", v)
	}
	return nil
}

// natural is the length of an answer that ends by itself, with what precedes it.
func (r Reasoning) natural(length int) int {
	if r < 1 {
		return int(math.Round(float64(length) / (1 - min(float64(r), 0.999))))
	}
	return length + int(r)
}

// tokens is the number of tokens of reasoning in an answer of that length. A limit
// on the answer may end it before it has begun to answer.
func (r Reasoning) tokens(length int) int {
	if r < 1 {
		return int(float64(r) * float64(length))
	}
	return min(int(r), length)
}
