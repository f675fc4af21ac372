package collect

import (
	"testing"
	"time"

	"sonde/probe/measure"
)

// others are two other processes whose slices come at one tick.
type others struct{ slices []Slice }

func (o *others) Take() ([]Slice, Standing) {
	out := o.slices
	o.slices = nil
	return out, Standing{InFlight: 7, Prefill: 2, Oldest: 3 * time.Second}
}

// Percentiles are of the requests of all processes together: of the TTFTs 1 to 100 ms the median is 50.5, although that
// of each process is 25.5 and 75.5. Counts and rates add up.
func TestFiguresOfOtherProcesses(t *testing.T) {
	const ms = time.Millisecond
	o := &others{}
	for process := range 2 {
		var s Slice
		for i := range 50 {
			ttft := float64(process*50 + i + 1)
			s.Client.SliceTTFT = append(s.Client.SliceTTFT, ttft)
			s.Client.SliceGaps = append(s.Client.SliceGaps, 10)
			start := 100 * ms
			s.Requests = append(s.Requests, measure.Request{
				Slot: process, Streamed: true, Chunks: 2, OutTokens: 2, FirstTokens: 1, InTokens: 5, Start: start,
				First: start + time.Duration(ttft)*ms, Last: start + time.Duration(ttft+10)*ms, End: start + time.Duration(ttft+10)*ms,
			})
		}
		s.Client.SliceOutTokens, s.Client.SliceInTokens = 100, 250
		s.Cells = []measure.StreamCell{{Slot: process, Tokens: 60, MaxGapMS: 10}}
		o.slices = append(o.slices, s, Slice{Cells: []measure.StreamCell{{Slot: process, Tokens: 40, MaxGapMS: 4, Ended: true}}})
	}
	c := NewCollector(func() (int, time.Duration) { return 0, 0 })
	c.SetRemote(o)
	tick := c.Tick(time.Second, false)
	cl := &tick.Client
	if cl.TTFT.N != 100 || cl.TTFT.P50 != 50.5 || cl.TTFT.Max != 100 || cl.TPOT.N != 100 || cl.TPOT.P99 != 10 || cl.Gap.N != 100 {
		t.Errorf("TTFT %+v, TPOT %+v, gap %+v", cl.TTFT, cl.TPOT, cl.Gap)
	}
	if cl.OK != 100 || cl.Sent != 107 || cl.InFlight != 7 || cl.Prefill != 2 || cl.OldestWaiting != 3*time.Second || cl.OutTokensPerS != 200 || cl.InTokensPerS != 500 {
		t.Errorf("%+v", cl)
	}
	if cl.ConcurrencyMean.V != 7 {
		t.Errorf("%v streams in flight, want 7", cl.ConcurrencyMean)
	}
	// Two slices of a process within one of ours are one cell of its stream.
	if len(tick.Cells) != 2 || tick.Cells[0] != (measure.StreamCell{Slot: 0, Tokens: 100, MaxGapMS: 10, Ended: true}) {
		t.Errorf("cells %+v", tick.Cells)
	}
	if again := c.Tick(2*time.Second, false); again.Client.TTFT.N != 100 || len(again.Requests) != 0 {
		t.Errorf("what was taken counts once: %+v", again.Client.TTFT)
	}
}
