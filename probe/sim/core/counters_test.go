package core

import (
	"testing"
	"time"
)

func TestSMAndDRAMTellPrefillFromDecode(t *testing.T) {
	prefill := closedLoop{streams: 4, ask: func(n int) Request { return exactly(prompt(4000, uint32(n)), 1) }, warmup: time.Second, window: time.Minute}.run(newBench(t, plenty())).hardware
	small := closedLoop{streams: 2, ask: varied(64, 500), warmup: time.Second, window: time.Minute}.run(newBench(t, plenty())).hardware
	large := closedLoop{streams: 128, ask: varied(64, 1000), warmup: 20 * time.Second, window: time.Minute}.run(newBench(t, plenty())).hardware
	t.Logf("prefill %+v", prefill)
	t.Logf("decode of 2 %+v", small)
	t.Logf("decode of 128 %+v", large)
	if prefill.SM < 0.9 || prefill.DRAM > 0.2 {
		t.Errorf("prefill: SM %.2f, DRAM %.2f; want high and low", prefill.SM, prefill.DRAM)
	}
	if small.SM > 0.4 || small.DRAM < 0.65 {
		t.Errorf("decode of two streams: SM %.2f, DRAM %.2f; want low and high", small.SM, small.DRAM)
	}
	if large.SM < 0.7 || large.DRAM < 0.65 {
		t.Errorf("decode of 128 streams: SM %.2f, DRAM %.2f; want both high", large.SM, large.DRAM)
	}
	if prefill.Tensor < 0.5 || small.Tensor > 0.02 || large.Tensor < 5*small.Tensor {
		t.Errorf("tensor: %.2f in prefill, %.3f and %.2f in decode", prefill.Tensor, small.Tensor, large.Tensor)
	}
}
