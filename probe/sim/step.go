package sim

import "time"

// batch sums up what one iteration computes.
type batch struct {
	sequences int
	tokens    int     // computed in this iteration
	prompts   int     // sequences in it that are still reading their prompt
	context   float64 // tokens whose KV is read: Σ over sequences
	attended  float64 // pairs of a new token and a token it attends to
}

// add puts fresh tokens of a sequence with context tokens in its KV cache into
// the batch. Attention is causal, so fresh tokens see each other half.
func (b *batch) add(context, fresh int) {
	c, n := float64(context), float64(fresh)
	b.sequences++
	b.tokens += fresh
	b.context += c
	b.attended += n*c + n*n/2
}

// cost is the price of an iteration.
type cost struct {
	tokens int
	flops  float64 // dense and attention
	bytes  float64 // weights, KV read and KV written

	compute  time.Duration // what the arithmetic alone would take
	memory   time.Duration // what the memory traffic alone would take
	link     time.Duration // reductions between GPUs, which nothing overlaps with
	overhead time.Duration
}

// costOf is the roofline:
//
//	FLOPs = 2·P_active·n + 4·L·H·d·Σ(pairs)       (prefill of N: 2·L·H·d·N²)
//	bytes = weights read once + KV·(context + n)
//
// The first term is computed in the weights' own precision, attention at 16 bits.
func costOf(b batch, s *shape, m *machine) cost {
	n := float64(b.tokens)
	dense := 2 * s.activeParams * n
	attention := 4 * float64(s.layers*s.heads*s.headDim) * b.attended
	c := cost{tokens: b.tokens, flops: dense + attention}
	c.bytes = s.weightReadBytes(b.tokens) + s.kvBytesPerToken()*m.kvReplicas(s)*(b.context+n)
	c.compute = seconds((dense/m.productFLOPs(s.weights) + attention/m.flops) / m.flopsShare)
	c.memory = seconds(c.bytes / (m.bandwidth * m.bandwidthShare))
	c.link = m.allReduces(s, b.tokens)
	c.overhead = m.overhead + time.Duration(b.sequences)*m.overheadPerSeq
	return c
}

// kernels is the time in which the GPU computes: arithmetic and memory traffic
// overlap, the longer one counts.
func (c *cost) kernels() time.Duration { return max(c.compute, c.memory) }

func (c *cost) duration() time.Duration { return c.kernels() + c.link + c.overhead }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
