package exporter

import (
	"os"
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

func readFixture(t *testing.T, text string) (pageFormat, []gpu.Reading) {
	t.Helper()
	page, err := prom.Parse([]byte(text), isGPUFamily)
	if err != nil {
		return pageFormat{}, nil // no page with GPU families
	}
	kinds, gpus := readPage(page, time.Time{}, nil, newPast())
	return append(kinds, pageFormat{})[0], withoutPlace(gpus)
}

func compare(t *testing.T, got, want []gpu.Reading) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d readings, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("reading %d\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

const (
	noteNoSM  = "SM and DRAM: this exporter has none for a whole GPU; dcgm-exporter with profiling metrics has"
	noteAMD   = "SM: enable the gpu_prof_ metrics in the exporter's configuration; DRAM: this exporter has none"
	smiDevice = "GPU-0000000b-0000-4000-8000-00000000000"
)

// Values as a person reads them in the page: two H200 alike but for the number.
func TestNvidiaExporterWithNvidiaSMI(t *testing.T) {
	format, got := readFixture(t, fixture(t, "nvidia_gpu_exporter_h200_2gpu.txt"))
	var want []gpu.Reading
	for i, id := range []string{smiDevice + "0", smiDevice + "1"} {
		want = append(want, gpu.Reading{
			ID: id, Index: i, Name: "NVIDIA H200", Source: "nvidia_gpu_exporter", Note: noteNoSM,
			Busy: opt.Of(1), MemBusy: opt.Of(0.62), MemUsed: opt.Of(141521059840), MemTotal: opt.Of(150754820096),
			Power: opt.Of(498.2), PowerLimit: opt.Of(700), Temperature: opt.Of(52), SMClock: opt.Of(1.98e9), MemClock: opt.Of(3.201e9),
		})
	}
	compare(t, got, want)
	if format.name != "nvidia_gpu_exporter" {
		t.Error(format.name)
	}
}

func TestNvidiaExporterWithNVMLAndMIG(t *testing.T) {
	_, got := readFixture(t, fixture(t, "nvidia_gpu_exporter_nvml_mig_h100.txt"))
	compare(t, got, []gpu.Reading{
		{
			ID: smiDevice + "0", Name: h100, Source: "nvidia_gpu_exporter",
			Note:    "utilisation n/a (MIG); SM: see the MIG instances",
			MemUsed: opt.Of(4.1e10), MemTotal: opt.Of(85520809984),
			Power: opt.Of(498.2), PowerLimit: opt.Of(700), Temperature: opt.Of(52), SMClock: opt.Of(1.98e9), MemClock: opt.Of(2.619e9),
			PCIeSent: opt.Of(2.15e8), PCIeReceived: opt.Of(3.98e8),
		}, {
			ID: smiDevice + "0/1", Parent: smiDevice + "0", Name: h100 + " MIG 3g.40gb", Source: "nvidia_gpu_exporter",
			SM: opt.Of(0.88), Tensor: opt.Of(0.19), Occupancy: opt.Of(0.21), Busy: opt.Of(0.99),
			MemUsed: opt.Of(3.9e10), MemTotal: opt.Of(42278584320), Note: "DRAM: this exporter has none",
		}, {
			ID: smiDevice + "0/9", Parent: smiDevice + "0", Name: h100 + " MIG 1g.10gb", Source: "nvidia_gpu_exporter",
			SM: opt.Of(0), Tensor: opt.Of(0), Occupancy: opt.Of(0), Busy: opt.Of(0),
			MemUsed: opt.Of(1.3e7), MemTotal: opt.Of(10468982784), Note: "DRAM: this exporter has none",
		},
	})
}

func TestNvidiaExporterSaysWhatIsWrong(t *testing.T) {
	_, got := readFixture(t, `
nvidia_smi_gpu_info{uuid="a",name="NVIDIA L4",index="3"} 1
nvidia_smi_power_draw_watts{uuid="a"} 31
nvidia_smi_xid_errors_total{uuid="a",xid="31"} 9
nvidia_smi_xid_errors_total{uuid="a",xid="79"} 1
nvidia_smi_gpu_info{uuid="b",name="NVIDIA L4",index="4"} 1
nvidia_smi_xid_errors_total{uuid="b",xid="79"} 1
nvidia_smi_last_collect_success 0
`)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	if g := got[0]; g.ID != "GPU-a" || g.Index != 3 || g.Lost || g.Note != "last fault: Xid 79; the exporter's last collection failed; "+noteNoSM {
		t.Errorf("%+v", g)
	}
	if g := got[1]; g.Index != 4 || !g.Lost || g.Note != "GPU lost: Xid 79" {
		t.Errorf("%+v", g)
	}
	for text, want := range map[string]string{
		"nvidia_smi_command_exit_code 9\nnvidia_smi_last_collect_success 0\n": "its nvidia-smi exited with code 9: " + nvml.CodeDriverNotLoaded.Error(),
		"nvidia_smi_nvml_return_code 77\n":                                    "its NVML returned 77",
		"nvidia_smi_last_collect_success 0\n":                                 "its last collection failed",
	} {
		page, err := prom.Parse([]byte(text), isGPUFamily)
		if err != nil {
			t.Fatal(err)
		}
		if why := whyNoGPUs(page); why != want {
			t.Errorf("%q says %q, want %q", text, why, want)
		}
	}
}

// amdGPU is an MI300X of the two pages. What they call MB is MiB.
func amdGPU(index int, values ...float64) gpu.Reading {
	v := func(i int) opt.Float { return opt.Of(values[i]) }
	return gpu.Reading{
		ID: "69240000000" + string(rune('0'+index)), Index: index, Name: "AMD 102-G30211-00", Source: "amd", Note: noteAMD,
		Busy: v(0), MemBusy: v(1), MemUsed: v(2).Scale(1 << 20), MemTotal: opt.Of(196592 << 20), Power: v(3), Temperature: v(4),
		SMClock: v(5).Scale(1e6), MemClock: v(6).Scale(1e6), BandwidthPeak: opt.Of(5300e9),
	}
}

func TestAMDExporter(t *testing.T) {
	want := []gpu.Reading{amdGPU(0, 0.98, 0.47, 185392, 612, 71, 2100, 1300), amdGPU(1, 0, 0, 592, 141, 38, 132, 900)}
	for i := range want {
		want[i].ID = "69240000000" + string(rune('0'+i))
	}
	format, got := readFixture(t, fixture(t, "amd_mi300x_2gpu.txt"))
	compare(t, got, want)
	if format.name != "amd" {
		t.Error(format.name)
	}
	for i, profiled := range [][3]float64{{0.3125, 0.225, 0.14}, {0, 0, 0}} {
		want[i].SM, want[i].Occupancy, want[i].Tensor = opt.Of(profiled[0]), opt.Of(profiled[1]), opt.Of(profiled[2])
		want[i].Note = "SM is the share of vector instructions; DRAM: this exporter has no share of the bandwidth"
	}
	_, got = readFixture(t, fixture(t, "amd_mi300x_2gpu_prefix_prof.txt"))
	compare(t, got, want)
}

func TestAMDPartitionsAndOldParts(t *testing.T) {
	_, got := readFixture(t, `
gpu_gfx_activity{gpu_id="0",serial_number="s",gpu_partition_id="0",gpu_compute_partition_type="cpx",card_model="AMD Instinct MI300X"} 40
gpu_package_power{gpu_id="0",serial_number="s",gpu_partition_id="0",gpu_compute_partition_type="cpx"} 500
gpu_gfx_activity{gpu_id="1",serial_number="s",gpu_partition_id="1",gpu_compute_partition_type="cpx"} 0
gpu_package_power{gpu_id="1",serial_number="s",gpu_partition_id="1",gpu_compute_partition_type="cpx"} 0
gpu_used_vram{gpu_id="1",serial_number="s",gpu_partition_id="1",gpu_compute_partition_type="cpx"} 7
x_gpu_average_package_power{gpu_id="2",hostname="h"} 222
x_gpu_gfx_activity{gpu_id="2",hostname="h"} 70
x_gpu_prof_sm_active{gpu_id="2",hostname="h"} 0
x_gpu_health{gpu_id="2",hostname="h"} 0
gpu_health{hostname="h"} 1
`)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	if g := got[0]; g.ID != "s/0" || g.Busy.Or(-1) != 0.4 || g.Power.Or(-1) != 500 || !strings.HasSuffix(g.Name, " CPX 0") {
		t.Errorf("%+v", g)
	}
	if g := got[1]; g.ID != "s/1" || g.Busy.OK || g.Power.OK || g.MemUsed.Or(-1) != 7<<20 {
		t.Errorf("zeros of a further partition are no measurements: %+v", g)
	}
	if g := got[2]; g.ID != "h/2" || g.Power.Or(-1) != 222 || g.SM.OK || !strings.HasPrefix(g.Note, "the exporter reports this GPU as unhealthy") {
		t.Errorf("%+v", g)
	}
}

// pagesRead says how many readings each page gives, and by which format; the
// values are checked above and in dcgm_test.go. No page is skipped.
var pagesRead = map[string]struct {
	format string
	gpus   int
}{
	"amd_mi300x_2gpu.txt":                   {"amd", 2},
	"amd_mi300x_2gpu_prefix_prof.txt":       {"amd", 2},
	"dcgm_1x_namespace.txt":                 {"dcgm", 1},
	"dcgm_46_names_b200_2gpu.txt":           {"dcgm", 2},
	"dcgm_blank_sentinels.txt":              {"dcgm", 1},
	"dcgm_default_h100_2gpu.txt":            {"dcgm", 2},
	"dcgm_default_h100_2gpu_t30.txt":        {"dcgm", 2},
	"dcgm_full_k8s_h100_8gpu.txt":           {"dcgm", 8},
	"dcgm_gb10_unified.txt":                 {"dcgm", 1},
	"dcgm_mig_a100.txt":                     {"dcgm", 5},
	"dcgm_mig_old_zero_util.txt":            {"dcgm", 3},
	"dcgm_noprof_h100_2gpu.txt":             {"dcgm", 2},
	"dcgm_noprof_l40s_1gpu.txt":             {"dcgm", 1},
	"dcgm_wrong_types_and_nvlink.txt":       {"dcgm", 1},
	"dcgm_xid79_gpu_lost.txt":               {"dcgm", 2},
	"no_gpu_families.txt":                   {"", 0},
	"nvidia_gpu_exporter_h200_2gpu.txt":     {"nvidia_gpu_exporter", 2},
	"nvidia_gpu_exporter_nvml_mig_h100.txt": {"nvidia_gpu_exporter", 3},
}

func TestEveryPageIsRead(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".txt") {
			continue
		}
		want, listed := pagesRead[f.Name()]
		if format, got := readFixture(t, fixture(t, f.Name())); !listed || format.name != want.format || len(got) != want.gpus {
			t.Errorf("%s: %d readings by %q, want %+v (listed: %t)", f.Name(), len(got), format.name, want, listed)
		}
	}
}

// Whatever a page holds, ratios stay finite and never below 0, and every reading
// has an identity.
func FuzzPages(f *testing.F) {
	for name := range pagesRead {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 8<<10 { // large pages only slow the search down
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, readings := readFixture(t, text)
		for _, r := range readings {
			if r.ID == "" || r.Source == "" {
				t.Fatalf("no identity: %+v", r)
			}
			for _, v := range []opt.Float{r.SM, r.DRAM, r.Tensor, r.Busy, r.MemBusy, r.MemUsed, r.MemTotal, r.Power} {
				if v.OK && (opt.Of(v.V) != v || v.V < 0) {
					t.Fatalf("not a measurement: %+v", r)
				}
			}
		}
	})
}
