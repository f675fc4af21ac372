package collect

import (
	"slices"
	"testing"
	"time"

	"sonde/probe/measure"
)

// TestTakeHandsOver: what is taken stays as it is while the next slice gathers,
// and appears in no later one.
func TestTakeHandsOver(t *testing.T) {
	const msec = time.Millisecond
	var track Track
	track.Begin(0, false, 7)
	track.Sent(10 * msec)
	track.Token(100*msec, 0, 1)
	track.Token(120*msec, msec, 1)
	first, live := track.take(false)
	track.Token(150*msec, 2*msec, 3)
	track.Token(150*msec, 2*msec, 1)
	if live.tokens != 2 || !slices.Equal(first.gaps, []float32{20}) || !slices.Equal(first.late, []float32{0, 1}) || first.prompts != 7 ||
		!slices.Equal(first.ttft, []float64{90}) {
		t.Errorf("first slice %+v of %+v", first, live)
	}
	track.End(measure.Request{ID: 5})
	second, live := track.take(false)
	if live.running || len(second.ttft) != 0 || second.tokens != 4 || second.coalesced != 1 || second.maxGapMS != 30 ||
		!slices.Equal(second.gaps, []float32{30, 0}) || len(second.ended) != 1 || second.ended[0].ID != 5 {
		t.Errorf("second slice %+v of %+v", second, live)
	}
	if third, _ := track.take(false); len(third.gaps)+len(third.late)+len(third.ttft)+len(third.ended)+third.tokens != 0 {
		t.Errorf("nothing happened, yet %+v", third)
	}
}

// TestGatheringAllocatesNothing: once a stream has been through two slices, its
// tokens go into memory that is there.
func TestGatheringAllocatesNothing(t *testing.T) {
	var track Track
	var now time.Duration
	track.Begin(0, false, 1)
	slice := func() {
		for range 10 {
			now += 20 * time.Millisecond
			track.Token(now, 0, 1)
		}
		track.take(false)
	}
	slice()
	slice()
	if n := testing.AllocsPerRun(20, slice); n != 0 {
		t.Errorf("%v allocations a slice", n)
	}
}
