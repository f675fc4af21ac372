//go:build linux && (amd64 || arm64) && !static

package nvml

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"sonde/gpu"
	"sonde/probe/opt"
)

// secondReading opens a reader and returns what it says after two readings 1 s apart.
func secondReading(t *testing.T, d *fakeDriver) []gpu.Reading {
	t.Helper()
	n := openFake(t, d)
	mustRead(t, n)
	time.Sleep(time.Second)
	return mustRead(t, n).GPUs
}

func openFake(t *testing.T, d *fakeDriver) *Reader {
	t.Helper()
	n, err := open(d, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	n.hostMemory = func() (used, total opt.Float) {
		return opt.Of(9034380 << 10), opt.Of(127600748 << 10)
	}
	return n
}

func mustRead(t *testing.T, n *Reader) gpu.Status {
	t.Helper()
	st, err := n.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestRefusalsAreAskedAgainOnlyAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		dev.codes[powerUsage] = CodeNotSupported
		dev.samples.takeCode = CodeNoPermission
		n := openFake(t, &fakeDriver{devices: []*fakeDevice{dev}})
		for range 59 {
			if g := mustRead(t, n).GPUs[0]; g.Power.OK || g.Temperature.Or(-1) != 40 {
				t.Fatalf("%+v", g)
			}
			time.Sleep(time.Second)
		}
		if dev.asked[powerUsage] != 1 || len(dev.samples.taken) != 1 {
			t.Errorf("asked for power %d times, %d samples", dev.asked[powerUsage], len(dev.samples.taken))
		}
		dev.codes[powerUsage] = CodeSuccess
		dev.samples.takeCode = CodeSuccess
		time.Sleep(2 * time.Second)
		mustRead(t, n)
		time.Sleep(time.Second)
		if g := mustRead(t, n).GPUs[0]; g.Power.Or(-1) != 11.17 || g.SM.Or(-1) != 0.8 {
			t.Errorf("after a minute %+v", g)
		}
	})
}

func TestPowerThatOneCardCannotReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFakeDevice("GPU-a"), newFakeDevice("GPU-b")
		a.codes[powerUsage], a.codes[powerLimit] = CodeNotSupported, CodeNotSupported
		b.values[powerUsage] = 120000
		c := newFakeDevice("GPU-c")
		c.values[powerUsage] = 0
		gpus := secondReading(t, &fakeDriver{devices: []*fakeDevice{a, b, c}})
		if g := gpus[0]; g.Power.OK || g.PowerLimit.OK || g.Note != "power not supported here" || g.Busy.Or(-1) != 0.35 {
			t.Errorf("GPU 0 %+v", g)
		}
		if g := gpus[1]; g.Power.Or(-1) != 120 || g.PowerLimit.Or(-1) != 300 || g.Note != "" {
			t.Errorf("GPU 1 %+v", g)
		}
		if gpus[2].Power.OK {
			t.Errorf("0 W was believed: %+v", gpus[2])
		}
	})
}

func TestUnifiedMemoryIsTheSystems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused, zero := newFakeDevice("GPU-a"), newFakeDevice("GPU-b")
		refused.memCode, zero.mem = CodeNotSupported, memory{}
		for _, g := range secondReading(t, &fakeDriver{devices: []*fakeDevice{refused, zero}}) {
			// (127600748 − 118566368) KiB of 127600748 KiB
			if g.MemUsed.Or(-1) != 9034380*1024 || g.MemTotal.Or(-1) != 127600748*1024 ||
				g.Note != "memory is the system's, shared with the CPU" ||
				g.Power.Or(-1) != 11.17 || g.Busy.Or(-1) != 0.35 || g.BandwidthPeak.OK || !g.MemShared || g.PCIeSent.OK || g.MemBusy.OK {
				t.Errorf("%+v", g)
			}
		}
	})
}

func TestWSLReportsAllOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		dev.codes[busyTime] = CodeNotSupported
		dev.mem = memory{used: math.MaxUint64, total: 17179869184}
		g := secondReading(t, &fakeDriver{devices: []*fakeDevice{dev}})[0]
		if g.MemTotal.Or(-1) != 16<<30 || g.MemUsed.OK || g.Busy.OK || g.Note != "utilisation not supported here" {
			t.Errorf("%+v", g)
		}
	})
}

func TestMIGInstancesAreRowsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, big, small := newFakeDevice("GPU-a"), newFakeDevice("MIG-x"), newFakeDevice("MIG-y")
		parent.codes[busyTime], parent.memCode = CodeNotSupported, CodeNoPermission
		big.mem, small.mem = memory{20 << 30, 40 << 30}, memory{10 << 30, 10 << 30}
		big.samples.percent = map[uint32]float64{smUtil: 90, graphicsUtil: 95}
		small.samples.takeCode = CodeNotSupported
		second := newFakeDevice("MIG-second-compute-instance")
		big.number, second.number, small.number = 1, 1, 5
		parent.mig = []*fakeDevice{big, second, nil, small}
		gpus := secondReading(t, &fakeDriver{devices: []*fakeDevice{parent}})
		if len(gpus) != 3 {
			t.Fatalf("%+v", gpus)
		}
		wantNote := "utilisation n/a (MIG); SM and DRAM: see the MIG instances; no permission for memory"
		if g := gpus[0]; g.Busy.OK || g.SM.OK || g.Note != wantNote || g.Power.Or(-1) != 11.17 {
			t.Errorf("parent %+v", g)
		}
		if g := gpus[1]; g.ID != "GPU-a/1" || g.Parent != "GPU-a" || g.MemUsed.Or(-1) != 20<<30 ||
			g.SM.Or(-1) != 0.9 || g.Busy.Or(-1) != 0.95 || g.Power.OK {
			t.Errorf("instance 1 %+v", g)
		}
		if g := gpus[2]; g.ID != "GPU-a/5" || g.MemUsed.Or(-1) != 10<<30 || g.SM.OK {
			t.Errorf("instance 5 %+v", g)
		}
		if len(parent.samples.used) != 0 {
			t.Error("GPM of a partitioned GPU was used")
		}
	})
}

func TestLostGPUKeepsItsNameAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFakeDevice("GPU-a"), newFakeDevice("GPU-b")
		d := &fakeDriver{devices: []*fakeDevice{a, b}}
		n := openFake(t, d)
		mustRead(t, n)
		for _, lost := range []Code{CodeGPUIsLost, CodeUnknown} {
			b.allCodes, b.handleCode, b.samples.takeCode = lost, lost, lost
			time.Sleep(time.Second)
			for range 20 { // through an enumeration
				st := mustRead(t, n)
				if g := st.GPUs[1]; !g.Lost || g.ID != "GPU-b" || g.Name != "NVIDIA Fake" ||
					g.Power.OK || g.SM.OK || g.Note == "" {
					t.Fatalf("code %d: %+v", lost, g)
				}
				if g := st.GPUs[0]; g.Lost || g.Power.Or(-1) != 11.17 {
					t.Fatalf("the other GPU: %+v", g)
				}
				time.Sleep(time.Second)
			}
			b.allCodes, b.handleCode, b.samples.takeCode = CodeSuccess, CodeSuccess, CodeSuccess
			time.Sleep(time.Minute)
			mustRead(t, n)
			if g := mustRead(t, n).GPUs[1]; g.Lost || g.ID != "GPU-b" || g.Power.Or(-1) != 11.17 {
				t.Errorf("back after code %d: %+v", lost, g)
			}
		}
	})
}

func TestGPUsAreFollowedByUUID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newFakeDevice("GPU-a"), newFakeDevice("GPU-b")
		d := &fakeDriver{devices: []*fakeDevice{a, b}}
		n := openFake(t, d)
		mustRead(t, n)
		d.devices = []*fakeDevice{b}
		time.Sleep(61 * time.Second)
		st := mustRead(t, n)
		if len(st.GPUs) != 1 || st.GPUs[0].ID != "GPU-b" || st.GPUs[0].Index != 0 {
			t.Errorf("%+v", st.GPUs)
		}
		if a.samples.freed() != 1 || b.samples.freed() != 0 {
			t.Errorf("samples freed: %d of the gone, %d of the kept GPU", a.samples.freed(), b.samples.freed())
		}
	})
}

func TestInitFailureIsOneSentenceAndNoShutdown(t *testing.T) {
	d := &fakeDriver{initCode: CodeVersionMismatch}
	_, err := open(d, time.Second)
	if err == nil || err.Error() != "driver and library versions differ: reload the driver or reboot" || d.downs != 0 {
		t.Errorf("error %v, %d shutdowns", err, d.downs)
	}
	d = &fakeDriver{}
	if _, err := open(d, time.Second); err == nil || err.Error() != "driver present, no GPU visible" || d.downs != 1 {
		t.Errorf("error %v, %d shutdowns", err, d.downs)
	}
}

func TestCodesWithoutATextShowTheirNumber(t *testing.T) {
	if got := Code(27).Error(); got != "NVML error 27" {
		t.Error(got)
	}
}

func TestClocksThatAreHeldDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		dev.values[clockReasons] = 0x4
		if g := secondReading(t, &fakeDriver{devices: []*fakeDevice{dev}})[0]; g.Note != "clocks held down by the power limit" {
			t.Error(g.Note)
		}
	})
}
