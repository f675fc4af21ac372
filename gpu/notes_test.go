package gpu

import (
	"testing"

	"sonde/probe/opt"
)

func TestWhatHoldsClocksDown(t *testing.T) {
	for mask, want := range map[float64]string{
		0: "", 0x1: "", 0x2: "", 0x100: "", -1: "", 1 << 40: "",
		0x4: "clocks held down by the power limit", 0x5: "clocks held down by the power limit",
		0x48: "clocks held down by a hardware slowdown, temperature (hardware)",
	} {
		var r Reading
		if got := r.SlowedBy(opt.Of(mask)); got != want || r.Overheated != (mask == 0x48) {
			t.Errorf("%#x: %q, want %q", int64(mask), got, want)
		}
	}
	if got := new(Reading).SlowedBy(opt.Float{}); got != "" {
		t.Errorf("unknown: %q", got)
	}
}
