package core

import "time"

// Batch is what one iteration computes.
type Batch struct {
	sequences int
	Tokens    int     // computed in this iteration
	prompts   int     // sequences in it that are still reading their prompt
	context   float64 // tokens whose KV is read: Σ over sequences
	attended  float64 // pairs of a new token and a token it attends to
}

// add puts fresh tokens of a sequence with context tokens in its KV cache into
// the batch. Attention is causal, so fresh tokens attend to half of each other.
func (b *Batch) add(context, fresh int) {
	c, n := float64(context), float64(fresh)
	b.sequences++
	b.Tokens += fresh
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
	link     time.Duration // reductions between GPUs, which overlap with nothing
	overhead time.Duration
}

// costOf is the roofline:
//
//	FLOPs = 2·P_active·n + 4·L·H·d·Σ(pairs)       (prefill of N: 2·L·H·d·N²)
//	bytes = weights read once + KV·(context + n)
//
// The first term is computed in the weights' own precision, attention at 16 bits.
func costOf(b Batch, served *Model, m *Machine) cost {
	n := float64(b.Tokens)
	dense := 2 * served.ActiveParams * n
	attention := 4 * float64(served.Layers*served.Heads) * served.HeadDim * b.attended
	c := cost{tokens: b.Tokens, flops: dense + attention}
	c.bytes = served.WeightsRead(n) + served.KVBytesPerToken()*m.kvReplicas(served)*(b.context+n)
	c.compute = seconds((dense/m.Peaks.FLOPs(served.EightBit) + attention/m.Peaks.BF16) / m.flopsShare)
	c.memory = seconds(c.bytes / (m.Peaks.Bandwidth * m.bandwidthShare))
	c.link = m.allReduces(served, b.Tokens)
	c.overhead = m.overhead + time.Duration(b.sequences)*m.overheadPerSeq
	return c
}

// kernels is the time in which the GPU computes: arithmetic and memory traffic
// overlap, the longer one counts.
func (c *cost) kernels() time.Duration { return max(c.compute, c.memory) }

func (c *cost) duration() time.Duration { return c.kernels() + c.link + c.overhead }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
