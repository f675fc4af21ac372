package process

import (
	"runtime"
	"testing"
)

func TestPausesAreSeenOnce(t *testing.T) {
	p := NewPauses()
	runtime.GC()
	if d := p.Longest(); d <= 0 {
		t.Errorf("a collection stopped us for %v", d)
	}
	if d := p.Longest(); d != 0 {
		// A collection of the runtime's own may fall between the two calls.
		if d = p.Longest(); d != 0 {
			t.Errorf("a pause is reported twice: %v", d)
		}
	}
}

func TestCPUGrows(t *testing.T) {
	before, ok := CPU()
	if !ok {
		t.Skip("unknown here")
	}
	for now := before; now == before; now, _ = CPU() {
	}
}
