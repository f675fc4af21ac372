package gpu

import (
	"strings"
	"testing"
	"testing/synctest"

	"sonde/probe/opt"
)

func TestWhatHoldsClocksDown(t *testing.T) {
	for mask, want := range map[float64]string{
		0: "", 0x1: "", 0x2: "", 0x100: "", -1: "", 1 << 40: "",
		0x4: "clocks held down by the power limit", 0x5: "clocks held down by the power limit",
		0x48: "clocks held down by a hardware slowdown, temperature (hardware)",
	} {
		if got := slowedBy(opt.Of(mask)); got != want {
			t.Errorf("%#x: %q, want %q", int64(mask), got, want)
		}
	}
	if got := slowedBy(opt.Float{}); got != "" {
		t.Errorf("unknown: %q", got)
	}
}

// The same mask by every source that has it.
func TestEverySourceTellsWhatHoldsClocksDown(t *testing.T) {
	const want = "clocks held down by the power limit"
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		dev.values[clockReasons] = 0x4
		if g := secondReading(t, &fakeDriver{devices: []*fakeDevice{dev}})[0]; g.Note != want {
			t.Errorf("NVML: %q", g.Note)
		}
	})
	s := openScripted(t, smiOutput{stdout: "GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 97, 62, 23034, 1000, 40.52, 72.00, 50, 1500, 6251, [N/A], 0x0000000000000004\n"})
	if note := s.status.GPUs[0].Note; note != want+"; "+noteSMI {
		t.Errorf("nvidia-smi: %q", note)
	}
	for _, page := range []string{
		"nvidia_smi_clocks_event_reasons_active{uuid=\"a\"} 4\n",
		"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu=\"0\",UUID=\"GPU-a\"} 4\n",
		"DCGM_FI_DEV_CLOCKS_EVENT_REASONS{gpu=\"0\",UUID=\"GPU-a\"} 4\n",
	} {
		if _, got := readFixture(t, page); len(got) != 1 || !strings.HasPrefix(got[0].Note, want+"; ") {
			t.Errorf("%s: %+v", page, got)
		}
	}
}
