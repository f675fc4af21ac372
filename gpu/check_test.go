package gpu

import (
	"encoding/json"
	"testing"

	"sonde/probe/opt"
)

func TestValuesThatCannotBeTrue(t *testing.T) {
	of := opt.Of
	for name, c := range map[string]struct {
		in, want Reading
	}{
		"stuck profiling counters": {
			Reading{SM: of(0), DRAM: of(0), Tensor: of(0), Busy: of(0.99), Power: of(640), Note: "n"},
			Reading{Busy: of(0.99), Power: of(640), Doubts: DoubtCounters,
				Note: "the counters contradict each other: SM, DRAM, tensor at 0 beside busy 99 % and 640 W, not shown; n"},
		},
		"stuck DRAM without an SM counter": {
			Reading{DRAM: of(0), Busy: of(1), Power: of(512), PowerLimit: of(700)},
			Reading{Busy: of(1), Power: of(512), PowerLimit: of(700), Doubts: DoubtCounters,
				Note: "the counters contradict each other: DRAM at 0 beside busy 100 % and 512 W, not shown"},
		},
		"a small kernel that needs no memory": {
			Reading{SM: of(0.008), DRAM: of(0), Busy: of(1), Power: of(120)},
			Reading{SM: of(0.008), DRAM: of(0), Busy: of(1), Power: of(120)},
		},
		"idle": {
			Reading{SM: of(0), DRAM: of(0), Busy: of(0), Power: of(70)},
			Reading{SM: of(0), DRAM: of(0), Busy: of(0), Power: of(70)},
		},
		"busy time stuck": {
			Reading{SM: of(0.9), Busy: of(0), Power: of(640)},
			Reading{SM: of(0.9), Power: of(640), Doubts: DoubtCounters,
				Note: "the counters contradict each other: busy 0 % beside SM 90 % and 640 W, not shown"},
		},
		"a share of 1.02 is 1": {Reading{SM: of(1.02), Busy: of(1)}, Reading{SM: of(1), Busy: of(1)}},
		"a share of 1.7 is unknown": {
			Reading{SM: of(1.7)},
			Reading{Doubts: DoubtRange, Note: "SM active of 170 % is not a share and not shown"},
		},
		"more memory than there is": {
			Reading{MemUsed: of(3e10), MemTotal: of(2e10)},
			Reading{MemTotal: of(2e10), Doubts: DoubtMemory, Note: "memory used is 150 % of the total and not shown"},
		},
		"milliwatts": {
			Reading{Power: of(640000), PowerLimit: of(700)},
			Reading{PowerLimit: of(700), Doubts: DoubtPower, Note: "power of 640000 W with a limit of 700 W is not shown"},
		},
	} {
		if got := Checked([]Reading{c.in})[0]; got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestFrozenReadingKeepsWhatDoesNotChange(t *testing.T) {
	r := Reading{
		ID: "GPU-a", SM: opt.Of(0.5), Power: opt.Of(640), Overheated: true, Note: "last fault: Xid 48",
		MemTotal: opt.Of(8e10), PowerLimit: opt.Of(700), BandwidthPeak: opt.Of(3e12),
	}
	want := Reading{
		ID: "GPU-a", Note: "frozen; last fault: Xid 48", Doubts: DoubtFrozen,
		MemTotal: opt.Of(8e10), PowerLimit: opt.Of(700), BandwidthPeak: opt.Of(3e12),
	}
	if r.Freeze("frozen"); r != want {
		t.Errorf("%+v", r)
	}
}

func TestDoubtsInJSON(t *testing.T) {
	in := Reading{Doubts: DoubtCounters | DoubtMemory}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Reading
	if err := json.Unmarshal(text, &out); err != nil || out != in {
		t.Errorf("%v: %+v from %s", err, out, text)
	}
}
