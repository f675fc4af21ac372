package exporter

import (
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

const (
	noteSMOff   = "SM: add DCGM_FI_PROF_SM_ACTIVE to the exporter's counters file"
	noteNoProf  = "this exporter has no profiling metrics: check SYS_ADMIN, the GPU model, and the counters file"
	noteNoneFor = "SM and DRAM: the exporter has no profiling values for this GPU"
	noteParent  = "utilisation n/a (MIG); SM and DRAM: see the MIG instances"
)

func readText(t *testing.T, text string) []gpu.Reading {
	t.Helper()
	page, err := prom.Parse([]byte(text), isGPUFamily)
	if err != nil {
		t.Fatal(err)
	}
	_, readings := readPage(page, time.Time{}, nil, newPast())
	return withoutPlace(readings)
}

// expect makes an expected reading; values are SM, DRAM, tensor, busy, MiB used,
// MiB total, W, °C, MHz. A negative one is unknown.
func expect(id string, index int, name, note string, values ...float64) gpu.Reading {
	v := make([]opt.Float, len(values))
	for i, x := range values {
		if x >= 0 {
			v[i] = opt.Of(x)
		}
	}
	return gpu.Reading{
		ID: id, Index: index, Name: name, Source: "dcgm", Note: note,
		SM: v[0], DRAM: v[1], Tensor: v[2], Busy: v[3], MemUsed: v[4].Scale(1 << 20), MemTotal: v[5].Scale(1 << 20),
		Power: v[6], Temperature: v[7], SMClock: v[8].Scale(1e6),
	}
}

// plus adds the rest to an expected reading: memory busy, MHz of the memory,
// occupancy, bytes/s over PCIe and NVLink, sent and received.
func plus(r gpu.Reading, values ...float64) gpu.Reading {
	fields := []*opt.Float{&r.MemBusy, &r.MemClock, &r.Occupancy, &r.PCIeSent, &r.PCIeReceived, &r.NVLinkSent, &r.NVLinkReceived}
	for i, x := range values {
		if x >= 0 {
			*fields[i] = opt.Of(x)
		}
	}
	r.MemClock = r.MemClock.Scale(1e6)
	return r
}

func shared(r gpu.Reading) gpu.Reading { r.MemShared = true; return r }

func instanceOf(parent string, r gpu.Reading) gpu.Reading { r.Parent = parent; return r }

func lost(r gpu.Reading) gpu.Reading { r.Lost = true; return r }

const (
	h100  = "NVIDIA H100 80GB HBM3"
	nodeA = "GPU-00000001-0000-4000-8000-00000000000"
	mig   = "GPU-00000004-0000-4000-8000-00000000000"
	a100  = "NVIDIA A100-SXM4-40GB"
	un    = -1.0
)

// Values as a person reads them in the pages.
func TestDCGMPages(t *testing.T) {
	for file, want := range map[string][]gpu.Reading{
		"dcgm_default_h100_2gpu.txt": {
			plus(expect(nodeA+"0", 0, h100, noteSMOff, un, 0.687451, 0.146203, 1, 76008, 76008+4987+564, 512.345, 54, 1980), 0.55, 2619, un, 214748364, 398123456),
			plus(expect(nodeA+"1", 1, h100, noteSMOff, un, 0.690451, 0.150203, 1, 76008, 81559, 515.595, 55, 1980), 0.55, 2619, un, 214749364, 398124456),
		},
		"dcgm_noprof_h100_2gpu.txt": {
			plus(expect(nodeA+"0", 0, h100, noteNoProf, un, un, un, 1, 76008, 81559, 512.345, 54, 1980), 0.55, 2619),
			plus(expect(nodeA+"1", 1, h100, noteNoProf, un, un, un, 1, 76008, 81559, 515.595, 55, 1980), 0.55, 2619),
		},
		"dcgm_noprof_l40s_1gpu.txt": {
			plus(expect("GPU-00000002-0000-4000-8000-000000000000", 0, "NVIDIA L40S", noteNoProf,
				un, un, un, 1, 41949, 41949+3512+607, 287.91, 58, 2520), 0.83, 9001),
		},
		"dcgm_46_names_b200_2gpu.txt": {
			plus(expect("GPU-00000005-0000-4000-8000-000000000000", 0, "NVIDIA B200", "",
				0.9412, 0.7122, 0.1702, 1, 173000, 173000+9120+1239, 821.44, 51, 1965), un, 3996, 0.2304, 190e6, 350e6),
			plus(expect("GPU-00000005-0000-4000-8000-000000000001", 1, "NVIDIA B200", "",
				0.9412, 0.7122, 0.1702, 1, 173000, 183359, 821.44, 51, 1965), un, 3996, 0.2304, 190e6, 350e6),
		},
		"dcgm_1x_namespace.txt": {
			plus(expect(nodeA+"0", 0, "NVIDIA-H100-80GB-HBM3", noteNoProf, un, un, un, 1, un, un, 512.345, 54, 1980), 0.55, 2619),
		},
		"dcgm_blank_sentinels.txt": {
			plus(expect("GPU-00000006-0000-4000-8000-000000000000", 0, "Tesla T4", noteNoneFor,
				un, un, un, 0.97, un, un, un, 44, 1590), un, 5000),
		},
		"dcgm_mig_a100.txt": {
			plus(expect(mig+"0", 0, a100, noteParent, un, un, un, un, un, un, 243.118, 49, 1410), un, 1215),
			instanceOf(mig+"0", expect(mig+"0/1", 0, a100+" MIG 3g.20gb", noteSMOff,
				un, 0.604411, 0.221904, 0.981204, 17842, 17842+2110, un, un, un)),
			instanceOf(mig+"0", expect(mig+"0/5", 0, a100+" MIG 2g.10gb", noteSMOff,
				un, 0, 0, 0, 13, 13+9843, un, un, un)),
			instanceOf(mig+"0", expect(mig+"0/13", 0, a100+" MIG 1g.5gb", noteSMOff,
				un, 0.188342, 0.101822, 0.412009, 12, 12+4853, un, un, un)),
			plus(expect(mig+"1", 1, a100, noteSMOff, un, 0.000104, 0, 0, 0, 40326+624, 61.004, 37, 1410), 0, 1215, un, 10423, 20912),
		},
		"dcgm_mig_old_zero_util.txt": { // the time share of 0 is no measurement
			expect(mig+"0", 0, a100, noteParent, un, un, un, un, un, un, 243.118, un, un),
			instanceOf(mig+"0", expect(mig+"0/1", 0, a100+" MIG 3g.20gb", noteNoneFor, un, un, un, 0.97, un, un, un, un, un)),
			instanceOf(mig+"0", expect(mig+"0/13", 0, a100+" MIG 1g.5gb", noteNoneFor, un, un, un, 0.41, un, un, un, un, un)),
		},
		"dcgm_wrong_types_and_nvlink.txt": { // rates of bytes, though declared counters
			plus(expect(nodeA+"0", 0, h100, noteNoneFor, un, un, un, un, un, un, un, un, un), un, un, un, 214748364, 398123456),
		},
		"dcgm_xid79_gpu_lost.txt": {
			plus(expect(nodeA+"0", 0, h100, noteSMOff, un, 0.687451, 0.146203, 1, 76008, 81559, 512.345, 54, 1980), 0.55, 2619, un, 214748364, 398123456),
			lost(expect(nodeA+"1", 1, h100, "GPU lost: Xid 79 (GPU has fallen off the bus)",
				un, un, un, un, un, un, un, un, un)),
		},
		"dcgm_gb10_unified.txt": {
			shared(expect("GPU-00000009-0000-4000-8000-000000000000", 0, "NVIDIA GB10",
				noteNoProf+"; memory is shared with the CPU and not on this page",
				un, un, un, 0.96, un, un, 48.21, 63, 2405)),
		},
	} {
		t.Run(file, func(t *testing.T) {
			got := readText(t, fixture(t, file))
			if len(got) != len(want) {
				t.Fatalf("%d readings, want %d: %+v", len(got), len(want), got)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("reading %d\n got %+v\nwant %+v", i, got[i], want[i])
				}
			}
		})
	}
}

func TestDCGMEightGPUsInKubernetes(t *testing.T) {
	got := readText(t, fixture(t, "dcgm_full_k8s_h100_8gpu.txt"))
	if len(got) != 8 {
		t.Fatalf("%d readings", len(got))
	}
	id := "GPU-00000003-0000-4000-8000-00000000000"
	if want := plus(expect(id+"0", 0, h100, "", 0.912334, 0.687451, 0.146203, 1, 76008, 81559, 512.345, 54, 1980),
		0.55, 2619, 0.214512, 214748364, 398123456, 20624999424, 20611137536); got[0] != want {
		t.Errorf("GPU 0\n got %+v\nwant %+v", got[0], want)
	}
	// An idle GPU: its zeros are measured.
	if want := plus(expect(id+"5", 5, h100, "", 0, 0.0002, 0, 0, 0, 80995+564, 87.45, 34, 345),
		0, 2619, 0, 12034, 23011, 0, 0); got[5] != want {
		t.Errorf("GPU 5\n got %+v\nwant %+v", got[5], want)
	}
}

func TestDCGMInstancesOfOneGPUAreKeptApart(t *testing.T) {
	got := readText(t, `
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",modelName="NVIDIA H100 PCIe",GPU_I_ID="1"} 0.90
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a",modelName="NVIDIA H100 PCIe",GPU_I_ID="2"} 0.10
`)
	if len(got) != 3 || got[0].SM.OK || got[0].Busy.OK || got[0].Note != noteParent ||
		got[1].ID != "GPU-a/1" || got[1].SM.Or(-1) != 0.90 || got[2].ID != "GPU-a/2" || got[2].SM.Or(-1) != 0.10 {
		t.Errorf("%+v", got)
	}
}

// The exporter repeats the power and the time share of 0 of the whole GPU for each
// instance, which has no value of its own here.
func TestDCGMInstanceWithoutValues(t *testing.T) {
	got := readText(t, `
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",GPU_I_ID="1",GPU_I_PROFILE="1g.10gb",pod="a"} 0
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",GPU_I_ID="1",GPU_I_PROFILE="1g.10gb",pod="a"} 240
`)
	if len(got) != 2 || got[0].Busy.OK || got[0].Power.Or(-1) != 240 || got[1].Busy.OK || got[1].Power.OK || got[1].Parent != "GPU-a" {
		t.Errorf("%+v", got)
	}
}

func TestDCGMOldFaultIsNoLoss(t *testing.T) {
	got := readText(t, `
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-a",err_code="74",err_msg="NVLink error"} 74
DCGM_FI_DEV_XID_ERRORS{gpu="1",UUID="GPU-b",err_code="31",err_msg="MMU fault"} 31
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a"} 300
DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="GPU-a"} 0.5
DCGM_FI_PROF_DRAM_ACTIVE{gpu="0",UUID="GPU-a"} 0.4
`)
	if g := got[0]; g.Lost || g.Note != "last fault: Xid 74 (NVLink error)" || g.Power.Or(-1) != 300 {
		t.Errorf("%+v", g)
	}
	if g := got[1]; g.Lost || g.Note != noteNoneFor { // 31 is a fault of an application
		t.Errorf("%+v", g)
	}
}

func TestDCGMWithoutUUIDGoesByHostAndIndex(t *testing.T) {
	got := readText(t, `
DCGM_FI_DEV_GPU_UTIL{gpu="10",hostname="a"} 30
DCGM_FI_DEV_GPU_UTIL{gpu="9",hostname="a"} 20
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="b"} 10
DCGM_FI_DEV_CPU_UTIL_TOTAL{cpu="0",hostname="a"} 5
`)
	var ids []string
	for _, g := range got {
		ids = append(ids, g.ID)
	}
	if want := "a/9 a/10 b/0"; strings.Join(ids, " ") != want {
		t.Errorf("%v, want %s", ids, want)
	}
}

func TestDCGMLabelsLoseControlCodes(t *testing.T) {
	got := readText(t, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\x1b]0;x\x07\",modelName=\"H100\x1b[2J\u009bx\"} 30\n")
	if got[0].ID != "GPU-a]0;x" || got[0].Name != "H100[2Jx" {
		t.Errorf("%q %q", got[0].ID, got[0].Name)
	}
}

func TestDCGMOfThisMachineBorrowsItsMemory(t *testing.T) {
	page, err := prom.Parse([]byte(fixture(t, "dcgm_gb10_unified.txt")), isGPUFamily)
	if err != nil {
		t.Fatal(err)
	}
	_, shared := readPage(page, time.Time{}, func() (used, total opt.Float) { return opt.Of(9 << 30), opt.Of(121 << 30) }, newPast())
	g := shared[0]
	if g.MemUsed.Or(-1) != 9<<30 || g.MemTotal.Or(-1) != 121<<30 ||
		!strings.HasSuffix(g.Note, "; memory is the system's, shared with the CPU") {
		t.Errorf("%+v", g)
	}
}

// The same mask from every exporter that has it.
func TestClocksThatAreHeldDown(t *testing.T) {
	for _, page := range []string{
		"nvidia_smi_clocks_event_reasons_active{uuid=\"a\"} 4\n",
		"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu=\"0\",UUID=\"GPU-a\"} 4\n",
		"DCGM_FI_DEV_CLOCKS_EVENT_REASONS{gpu=\"0\",UUID=\"GPU-a\"} 4\n",
	} {
		if _, got := readFixture(t, page); len(got) != 1 || !strings.HasPrefix(got[0].Note, "clocks held down by the power limit; ") {
			t.Errorf("%s: %+v", page, got)
		}
	}
}
