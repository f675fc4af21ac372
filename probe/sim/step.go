package sim

import "time"

// batch sums up what one iteration computes.
type batch struct {
	sequences int
	tokens    int     // computed in this iteration
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
	flops float64 // dense and attention
	bytes float64 // weights, KV read and KV written

	compute  time.Duration // what the arithmetic alone would take
	memory   time.Duration // what the memory traffic alone would take
	overhead time.Duration
}

// costOf is the roofline:
//
//	FLOPs = 2·P_active·n + 4·L·H·d·Σ(pairs)       (prefill of N: 2·L·H·d·N²)
//	bytes = weights read once + KV·(context + n)
func costOf(b batch, s *shape, m *machine) cost {
	n := float64(b.tokens)
	var c cost
	c.flops = 2*s.activeParams*n + 4*float64(s.layers*s.heads*s.headDim)*b.attended
	c.bytes = s.weightReadBytes(b.tokens) + s.kvBytesPerToken()*(b.context+n)
	c.compute = seconds(c.flops / (m.flops * m.flopsShare))
	c.memory = seconds(c.bytes / (m.bandwidth * m.bandwidthShare))
	c.overhead = m.overhead + time.Duration(b.sequences)*m.overheadPerSeq + time.Duration(s.layers)*m.overheadPerLayer
	return c
}

// kernels is the time in which the GPU computes: arithmetic and memory traffic
// overlap, the longer one counts.
func (c *cost) kernels() time.Duration { return max(c.compute, c.memory) }

func (c *cost) duration() time.Duration { return c.kernels() + c.overhead }

// activity is what the hardware counters show, each 0 to 1.
type activity struct {
	busy   float64 // share of time in which a kernel ran
	sm     float64 // share of SM time with a warp resident; waiting for memory counts
	tensor float64 // share of the tensor peak
	dram   float64 // share of the bandwidth peak
}

// activity of an iteration, averaged over its duration. Compute-bound kernels
// occupy nearly all SMs; the short kernels of memory-bound ones leave some of
// them empty at their ends.
func (c *cost) activity(m *machine) activity {
	const smMemoryBound, smComputeBound = 0.88, 0.98
	total := c.duration().Seconds()
	busy := c.kernels().Seconds() / total
	bound := c.compute.Seconds() / c.kernels().Seconds()
	return activity{
		busy:   busy,
		sm:     busy * (smMemoryBound + (smComputeBound-smMemoryBound)*bound),
		tensor: c.flops / total / m.flops,
		dram:   c.bytes / total / m.bandwidth,
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
