package smi

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sonde/gpu/tool"
	"sonde/probe/opt"
)

// machine has two GPUs, and prints the lines of dmon one after the other, a second apart.
type machine struct {
	tool.Local
	lines []string
	ended *atomic.Bool
}

func (machine) Run(context.Context, string, ...string) tool.Output {
	row := "GPU-%, %, NVIDIA H100 80GB HBM3, 00000000:0%:00.0, 97, 62, 81559, 1000, 640.52, 700.00, 50, 1980, 2619, Disabled, 0x0\n"
	return tool.Output{Text: strings.ReplaceAll(row, "%", "0") + strings.ReplaceAll(row, "%", "1")}
}

func (m machine) Follow(ctx context.Context, line func(string), program string, args ...string) {
	defer func() { m.ended.Store(true) }()
	for i := 0; ctx.Err() == nil; i++ {
		line(m.lines[min(i, len(m.lines)-1)])
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

const (
	dmonNames = "# gpu    pwr  gtemp  mtemp smutil  smocc mmaact   dram  pcitx  pcirx  nvlrx  nvltx"
	dmonUnits = "# Idx      W      C      C  GPM:%  GPM:%  GPM:%  GPM:% GPM:MB/s GPM:MB/s GPM:MB/s GPM:MB/s"
)

func TestCountersOfDmon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		m := machine{ended: &ended, lines: []string{dmonNames, dmonUnits,
			"    0    640     50     60      -      -      -      -      -      -      -      -",
			"    1    640     50     60     80     40     20     60     10     30    200    100",
			"garbage", "    0 640", "    x    640     50     60     80     40     20     60     10     30    200    100"}}
		s, err := Open(t.Context(), m, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3500 * time.Millisecond)
		st, err := s.Read(t.Context())
		if err != nil || len(st.GPUs) != 2 {
			t.Fatalf("%v, %+v", err, st)
		}
		if g := st.GPUs[0]; g.SM.OK || g.DRAM.OK || g.Note != noteSMI || g.Busy.Or(-1) != 0.97 {
			t.Errorf("a GPU whose first row has no counters: %+v", g)
		}
		g := st.GPUs[1]
		if got := []opt.Float{g.SM, g.Occupancy, g.Tensor, g.DRAM, g.PCIeSent, g.PCIeReceived, g.NVLinkSent, g.NVLinkReceived}; !slices.Equal(got, []opt.Float{
			opt.Of(0.8), opt.Of(0.4), opt.Of(0.2), opt.Of(0.6), opt.Of(10 << 20), opt.Of(30 << 20), opt.Of(100 << 20), opt.Of(200 << 20)}) || g.Note != "" {
			t.Errorf("%v, %q", got, g.Note)
		}
		for _, f := range g.Fields() {
			if f.Name == "DRAM bandwidth" && f.Source != "dmon dram" {
				t.Errorf("bandwidth from %q", f.Source)
			}
		}
		time.Sleep(5 * time.Second) // the row is 5.5 s old
		if st, _ = s.Read(t.Context()); st.GPUs[1].SM.OK || st.GPUs[1].DRAM.OK {
			t.Errorf("old counters: %+v", st.GPUs[1])
		}
		s.Close()
		synctest.Wait()
		if !ended.Load() {
			t.Error("dmon runs on")
		}
	})
}

// Older GPUs have no counters: dmon is ended and not started again.
func TestDmonWithoutCountersIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		s, err := Open(t.Context(), machine{ended: &ended, lines: []string{dmonNames,
			"    0    640     50     60      -      -      -      -      -      -      -      -"}}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		time.Sleep(2 * time.Second) // Open has waited for 2.5 s
		if ended.Load() {
			t.Error("ended too early")
		}
		time.Sleep(time.Second)
		if !ended.Load() {
			t.Error("dmon runs on without a counter")
		}
		ended.Store(false)
		time.Sleep(time.Minute)
		if ended.Load() {
			t.Error("dmon was started again")
		}
	})
}

// A binary without NVIDIA's library: the real processes, from end to end.
func TestCountersOfAProcess(t *testing.T) {
	fakeTool(t, `
case "$1" in
dmon) echo "`+dmonNames+`"; while :; do echo "    1    640     50     60     80     40     20     60     10     30    200    100"; sleep 0.05; done;;
*) echo "GPU-1, 1, NVIDIA H100 80GB HBM3, 00000000:01:00.0, 97, 62, 81559, 1000, 640.52, 700.00, 50, 1980, 2619, [N/A], 0x0";;
esac
`)
	s, err := Open(t.Context(), tool.Local{}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		st, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if g := st.GPUs[0]; g.SM.OK {
			if g.SM != opt.Of(0.8) || g.DRAM != opt.Of(0.6) || g.Note != "" {
				t.Errorf("%+v", g)
			}
			return
		}
	}
}
