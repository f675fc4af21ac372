package collect

import (
	"time"

	"sonde/probe/measure"
)

// Slice is what the streams of another process saw between two of its ticks, on our clock.
type Slice struct {
	// Of Client the samples and counts of the slice.
	Client   measure.Client
	Cells    []measure.StreamCell
	Requests []measure.Request // that ended
}

// Standing is what the streams of other processes are doing now.
type Standing struct {
	InFlight, Prefill, Thinking int
	Oldest                      time.Duration // age of the oldest request without a token
}

// Remote are streams of other processes. Take hands over their next slices.
type Remote interface {
	Take() ([]Slice, Standing)
}

// SetRemote adds the streams of other processes to the tracks, before the first tick.
func (c *Collector) SetRemote(r Remote) { c.remote = r }

// absorbRemote takes what other processes saw.
func (c *Collector) absorbRemote(out *Tick, s *slice) {
	if c.remote == nil {
		return
	}
	list, now := c.remote.Take()
	s.flowSlot.inFlight += now.InFlight
	s.flowSlot.busy += time.Duration(now.InFlight) * (s.to - s.from)
	s.prefill += now.Prefill
	s.thinking += now.Thinking
	s.oldest = max(s.oldest, now.Oldest)
	at := map[int]int{} // index of a slot's cell
	for i := range list {
		c.absorbSlice(s, &list[i])
		for _, cell := range list[i].Cells {
			if n, known := at[cell.Slot]; known {
				out.Cells[n] = joined(out.Cells[n], cell)
				continue
			}
			at[cell.Slot] = len(out.Cells)
			out.Cells = append(out.Cells, cell)
		}
	}
}

// joined is a cell of two slices that came within one of ours.
func joined(a, b measure.StreamCell) measure.StreamCell {
	b.Tokens += a.Tokens
	b.MaxGapMS = max(a.MaxGapMS, b.MaxGapMS)
	b.Ended, b.Failed, b.Long = b.Ended || a.Ended, b.Failed || a.Failed, b.Long || a.Long
	return b
}

func (c *Collector) absorbSlice(s *slice, r *Slice) {
	s.flowSlot.in += r.Client.SliceInTokens
	s.flowSlot.out += r.Client.SliceOutTokens
	if !s.stopped {
		for _, ms := range r.Client.SliceTTFT {
			c.lats.ttft.Add(s.to, ms)
		}
		s.ttft = append(s.ttft, r.Client.SliceTTFT...)
		for ms, n := range r.Client.EachSliceGap() {
			for range n {
				c.lats.gap.Add(s.to, ms)
				c.gaps = append(c.gaps, float32(ms))
			}
		}
	}
	busy := s.flowSlot.busy // counted by what is in flight, and not request by request
	for i := range r.Requests {
		s.flowSlot.chunks += r.Requests[i].Chunks
		s.flowSlot.coalesced += r.Requests[i].Coalesced
		c.ended(s, &r.Requests[i])
	}
	s.flowSlot.busy = busy
}
