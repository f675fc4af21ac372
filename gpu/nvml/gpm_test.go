//go:build linux && (amd64 || arm64) && !static

package nvml

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestGPMComparesEachSampleWithTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		n := openFake(t, &fakeDriver{devices: []*fakeDevice{dev}})
		first := mustRead(t, n).GPUs[0]
		if first.SM.OK || first.DRAM.OK || first.Note != "SM and DRAM: waiting for a second sample" {
			t.Errorf("first reading %+v", first)
		}
		for range 3 {
			time.Sleep(time.Second)
			g := mustRead(t, n).GPUs[0]
			if g.SM.Or(-1) != 0.8 || g.DRAM.Or(-1) != 0.6 || g.Tensor.Or(-1) != 0.2 || g.Note != "" {
				t.Errorf("%+v", g)
			}
		}
		if want := []int{0, 1, 0, 1}; !slices.Equal(dev.samples.taken, want) {
			t.Errorf("samples taken %v, want %v", dev.samples.taken, want)
		}
		if want := [][2]int{{0, 1}, {1, 0}, {0, 1}}; !slices.Equal(dev.samples.compared, want) {
			t.Errorf("compared %v, want %v", dev.samples.compared, want)
		}
		time.Sleep(100 * time.Millisecond) // too early for a new sample
		if g := mustRead(t, n).GPUs[0]; g.SM.Or(-1) != 0.8 || len(dev.samples.taken) != 4 {
			t.Errorf("early reading %+v, %d samples", g, len(dev.samples.taken))
		}
		n.Close()
		if len(dev.samples.used) != 2 || dev.samples.freed() != 2 {
			t.Errorf("%d samples, freed %d", len(dev.samples.used), dev.samples.freed())
		}
	})
}

// 332 MiB/s in, 117.25 MiB/s out over PCIe; NVLink names what it received first.
func TestGPMReportsTrafficAndOccupancy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		for id, v := range map[uint32]float64{smOccupancy: 41.25, pcieSent: 117.25, pcieReceived: 332, nvlinkReceived: 1000, nvlinkSent: 2000} {
			dev.samples.percent[id] = v
		}
		dev.values[memoryBusy], dev.values[memoryClock] = 55, 2619
		g := secondReading(t, &fakeDriver{devices: []*fakeDevice{dev}})[0]
		if g.Occupancy.Or(-1) != 0.4125 || g.PCIeSent.Or(-1) != 117.25*(1<<20) || g.PCIeReceived.Or(-1) != 332*(1<<20) ||
			g.NVLinkSent.Or(-1) != 2000*(1<<20) || g.NVLinkReceived.Or(-1) != 1000*(1<<20) || g.MemBusy.Or(-1) != 0.55 || g.MemClock.Or(-1) != 2619e6 {
			t.Errorf("%+v", g)
		}
	})
}

func TestGPMThatTheSystemBlocksIsNotAskedEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		dev.samples.takeCode = CodeOperatingSystem
		n := openFake(t, &fakeDriver{devices: []*fakeDevice{dev}})
		for range 10 {
			if g := mustRead(t, n).GPUs[0]; g.SM.OK || g.Source != "nvml" || g.Busy.Or(-1) != 0.35 || !strings.HasPrefix(g.Note, "SM and DRAM: no permission") {
				t.Fatalf("%+v", g)
			}
			time.Sleep(time.Second)
		}
		if len(dev.samples.taken) != 1 {
			t.Errorf("%d samples", len(dev.samples.taken))
		}
	})
}

func TestGPMStartsAnewAfterAnErrorOrAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		n := openFake(t, &fakeDriver{devices: []*fakeDevice{dev}})
		known := func(after time.Duration) bool {
			time.Sleep(after)
			return mustRead(t, n).GPUs[0].SM.OK
		}
		got := []bool{known(0), known(time.Second)}
		dev.samples.takeCode = 21 // NO_DATA
		got = append(got, known(time.Second))
		dev.samples.takeCode = CodeSuccess
		got = append(got, known(time.Second), known(time.Second), known(16*time.Second), known(time.Second))
		if want := []bool{false, true, false, false, true, false, true}; !slices.Equal(got, want) {
			t.Errorf("SM known: %v, want %v", got, want)
		}
	})
}

func TestGPMValuesAreUnknownOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := newFakeDevice("GPU-a")
		dev.samples.percent[dramBandwidth] = math.NaN()
		delete(dev.samples.percent, tensorUtil)
		g := secondReading(t, &fakeDriver{devices: []*fakeDevice{dev}})[0]
		if g.SM.Or(-1) != 0.8 || g.DRAM.OK || g.Tensor.OK {
			t.Errorf("%+v", g)
		}
	})
}
