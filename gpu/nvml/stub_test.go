//go:build linux && (amd64 || arm64) && !static

package nvml_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/gpu/watch"
	"sonde/probe/guard"
)

// A missing symbol ends the process, and a process can load one driver library
// only: each scenario runs in a child, which is this test binary again. Children mostly
// wait for their second reading, so that they run side by side.
const childVariable = "GPU_TEST_CHILD"

// thenVariable is NAME=VALUE: what changes while the child reads. It ends when a
// GPU is lost by that.
const thenVariable = "GPU_TEST_THEN"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// child reads through the source as the program does, ends it, and prints the
// last status.
func child() int {
	s := watch.Open(watch.Options{Mode: "nvml", Interval: 160 * time.Millisecond})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ended := make(chan struct{})
	guard.Go("child", func(err error) { fmt.Fprintln(os.Stderr, err) }, func() {
		defer close(ended)
		s.Run(ctx)
	})
	for !complete(s.Latest()) && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if name, value, ok := strings.Cut(os.Getenv(thenVariable), "="); ok {
		_ = os.Setenv(name, value) // the library reads it at each call
		for !someLost(s.Latest()) && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	st := s.Latest()
	cancel()
	<-ended
	if err := json.NewEncoder(os.Stdout).Encode(st); err != nil {
		return 1
	}
	return 0
}

func someLost(st gpu.Status) bool {
	return slices.ContainsFunc(st.GPUs, func(g gpu.Reading) bool { return g.Lost })
}

// complete: every GPU has had its second GPM sample, or there is a reason.
func complete(st gpu.Status) bool {
	for _, g := range st.GPUs {
		if strings.Contains(g.Note, "second sample") {
			return false
		}
	}
	return st.Source != "" || st.State != gpu.Looking
}

// buildStub compiles a driver library of testdata and returns its folder.
func buildStub(t *testing.T, source string, flags ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc to build the driver library of the test")
	}
	dir := t.TempDir()
	args := append([]string{"-shared", "-fPIC", "-O1", "-Wl,-soname,libnvidia-ml.so.1",
		"-o", filepath.Join(dir, "libnvidia-ml.so.1"), filepath.Join("testdata", source)}, flags...)
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return dir
}

// readWith runs a child with the library in dir. The child must end with status 0.
func readWith(t *testing.T, dir string, env ...string) gpu.Status {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	// The race detector would sleep for a second at each child's end.
	cmd.Env = append(append(os.Environ(), childVariable+"=1", "GORACE=atexit_sleep_ms=0", "LD_LIBRARY_PATH="+dir), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("child: %v\n%s", err, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("child wrote to stderr: %s", stderr.String())
	}
	var st gpu.Status
	if err := json.Unmarshal(out, &st); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return st
}

func TestNVMLReadsEveryValueOfAHopperGPU(t *testing.T) {
	t.Parallel()
	st := readWith(t, buildStub(t, "nvml_stub.c"), "STUB_SM=73.25", "STUB_DRAM=41.5")
	if st.Source != "nvml" || st.Why != "" || len(st.GPUs) != 2 || time.Since(st.At) > time.Minute {
		t.Fatalf("status %+v", st)
	}
	g := st.GPUs[1]
	if g.ID != "GPU-00000000-0000-0000-0000-000000000001" || g.Index != 1 || g.Name != "NVIDIA H100 80GB HBM3" ||
		g.Source != "nvml-gpm" || g.Note != "" || g.Lost || g.Parent != "" {
		t.Errorf("identity %+v", g)
	}
	for _, v := range []struct {
		what      string
		got, want float64
	}{
		{"SM", g.SM.Or(-1), 0.7325},
		{"DRAM", g.DRAM.Or(-1), 0.415},
		{"tensor", g.Tensor.Or(-1), 0.175},
		{"busy", g.Busy.Or(-1), 1},
		{"used", g.MemUsed.Or(-1), 70000000000},
		{"total", g.MemTotal.Or(-1), 85520809984},
		{"power", g.Power.Or(-1), 512.345},
		{"limit", g.PowerLimit.Or(-1), 700},
		{"temperature", g.Temperature.Or(-1), 61},
		{"clock", g.SMClock.Or(-1), 1755e6},
		// 5120 bit / 8 × 2619 MHz × 2 transfers per cycle
		{"occupancy", g.Occupancy.Or(-1), 0.4125},
		{"memory busy", g.MemBusy.Or(-1), 0.55},
		{"memory clock", g.MemClock.Or(-1), 2619e6},
		{"PCIe sent", g.PCIeSent.Or(-1), 117.25 * 1048576},
		{"PCIe received", g.PCIeReceived.Or(-1), 332 * 1048576},
		{"NVLink sent", g.NVLinkSent.Or(-1), 50321.5 * 1048576},
		{"NVLink received", g.NVLinkReceived.Or(-1), 50321.5 * 1048576},
		{"bandwidth", g.BandwidthPeak.Or(-1), 3352.32e9},
	} {
		if diff := v.got - v.want; diff > 1e-9*v.want || diff < -1e-9*v.want {
			t.Errorf("%s = %v, want %v", v.what, v.got, v.want)
		}
	}
}

func TestNVMLStates(t *testing.T) {
	t.Parallel()
	current, old := buildStub(t, "nvml_stub.c"), buildStub(t, "nvml_stub.c", "-DSTUB_OLD_DRIVER")
	broken := t.TempDir() // the loader stops at this file, also where a real driver is installed
	if err := os.WriteFile(filepath.Join(broken, "libnvidia-ml.so.1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir string
		env       []string
		gpus      int
		why, note string // the note of GPU 0
	}{
		{"no library", broken, nil, 0, "no NVIDIA driver found", ""},
		{"mismatch", current, []string{"STUB_INIT_RET=18"}, 0,
			"driver and library versions differ: reload the driver or reboot", ""},
		{"driver not loaded", current, []string{"STUB_INIT_RET=9"}, 0,
			"the NVIDIA driver is not loaded: load its kernel module, or give the container access to the GPU", ""},
		{"init without permission", current, []string{"STUB_INIT_RET=4"}, 0,
			"the NVIDIA driver denies permission: run as a user who can open /dev/nvidiactl", ""},
		{"init unknown", current, []string{"STUB_INIT_RET=999"}, 0,
			"the NVIDIA driver reports an unknown error (code 999): the GPU may be lost, or the container lost its access", ""},
		{"no GPU", current, []string{"STUB_GPUS=0"}, 0, "driver present, no GPU visible", ""},
		{"16 GPUs", current, []string{"STUB_GPUS=16"}, 16, "", ""},
		{"no GPM on the device", current, []string{"STUB_GPM=0"}, 2, "", "SM and DRAM: needs Hopper or newer, or DCGM"},
		{"no GPM in the library", old, nil, 2, "", "SM and DRAM: needs a newer driver (R520), or DCGM"},
		{"GPM without permission", current, []string{"STUB_GPM_RET=4"}, 2, "",
			"SM and DRAM: no permission for the GPU's counters: run as root, or set NVreg_RestrictProfilingToAdminUsers=0"},
		{"GPM blocked by the system", current, []string{"STUB_GPM_RET=17"}, 2, "",
			"SM and DRAM: no permission for the GPU's counters: run as root, or set NVreg_RestrictProfilingToAdminUsers=0"},
		{"init blocked by the system", current, []string{"STUB_INIT_RET=17"}, 0,
			"the operating system blocks the GPU: check the container's access to its devices", ""},
		{"no utilisation", current, []string{"STUB_UTIL_RET=3"}, 2, "", "utilisation not supported here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := readWith(t, c.dir, c.env...)
			if len(st.GPUs) != c.gpus || st.Why != c.why {
				t.Fatalf("%d GPUs, why %q", len(st.GPUs), st.Why)
			}
			for i, g := range st.GPUs {
				if g.Index != i || g.Note != c.note || !g.Power.OK || g.SM.OK != g.DRAM.OK {
					t.Errorf("GPU %d: %+v", i, g)
				}
			}
		})
	}
}

func TestNVMLWithoutGPMShowsTimeShareOnly(t *testing.T) {
	t.Parallel()
	g := readWith(t, buildStub(t, "nvml_stub.c"), "STUB_GPM=0", "STUB_GPUS=1").GPUs[0]
	if g.Busy.Or(-1) != 1 || g.SM.OK || g.DRAM.OK || g.Tensor.OK || g.Source != "nvml" {
		t.Errorf("%+v", g)
	}
}

func TestNVMLLostGPULeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	st := readWith(t, buildStub(t, "nvml_stub.c"), "STUB_GPUS=3", "STUB_LOST=1")
	if len(st.GPUs) != 3 {
		t.Fatalf("%+v", st)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	lost := st.GPUs[1]
	if !lost.Lost || lost.Note != "GPU lost (code 15): reset it or reboot" || lost.Power.OK || lost.ID != host+"/1" {
		t.Errorf("lost GPU %+v", lost)
	}
	for _, i := range []int{0, 2} {
		if g := st.GPUs[i]; g.Lost || g.SM.Or(-1) != 0.88 || g.Index != i {
			t.Errorf("GPU %d %+v", i, g)
		}
	}
}

// A GPU that is lost, or vanishes from the list, while it is read: the UUID is
// known then, and the other one goes on.
func TestNVMLGPUsThatGoWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	dir := buildStub(t, "nvml_stub.c")
	for then, note := range map[string]string{
		"STUB_LOST=1": "GPU lost (code 15): reset it or reboot", "STUB_GPUS=1": "GPU lost: no longer listed",
	} {
		st := readWith(t, dir, thenVariable+"="+then)
		if len(st.GPUs) != 2 || st.Why != "" {
			t.Fatalf("%s: %+v", then, st)
		}
		if g := st.GPUs[0]; g.Lost || g.SM.Or(-1) != 0.88 || g.Index != 0 {
			t.Errorf("%s: the other GPU %+v", then, g)
		}
		if g := st.GPUs[1]; !g.Lost || g.ID != "GPU-00000000-0000-0000-0000-000000000001" || g.Name != "NVIDIA H100 80GB HBM3" || g.Note != note {
			t.Errorf("%s: %+v", then, g)
		}
	}
}

func TestNVMLMemoryNotSupportedMeansTheSystems(t *testing.T) {
	t.Parallel()
	_, total := nvml.SystemMemory()
	if !total.OK {
		t.Skip("no /proc/meminfo with MemAvailable")
	}
	g := readWith(t, buildStub(t, "nvml_stub.c"), "STUB_MEM_RET=3", "STUB_NAME=NVIDIA GB10").GPUs[0]
	if g.MemTotal != total || !g.MemUsed.OK || g.Note != "memory is the system's, shared with the CPU" {
		t.Errorf("%+v", g)
	}
	if g.SM.Or(-1) != 0.88 || g.Power.Or(-1) != 512.345 || g.BandwidthPeak.OK {
		t.Errorf("other fields %+v", g)
	}
}

func TestNVMLInstancesOfMIG(t *testing.T) {
	t.Parallel()
	st := readWith(t, buildStub(t, "nvml_stub.c"), "STUB_GPUS=1", "STUB_MIG=1", "STUB_UTIL_RET=3", "STUB_MEM_RET=4")
	if len(st.GPUs) != 3 {
		t.Fatalf("%+v", st)
	}
	parent, a, b := st.GPUs[0], st.GPUs[1], st.GPUs[2]
	if parent.Busy.OK || parent.SM.OK || parent.MemUsed.OK || parent.Power.Or(-1) != 512.345 ||
		!strings.HasPrefix(parent.Note, "utilisation n/a (MIG)") {
		t.Errorf("parent %+v", parent)
	}
	if a.Parent != parent.ID || a.ID != parent.ID+"/1" || a.Name != "NVIDIA H100 80GB HBM3 MIG 3g.40gb" ||
		a.MemUsed.Or(-1) != 20<<30 || a.MemTotal.Or(-1) != 40<<30 || a.SM.Or(-1) != 0.90 || a.Power.OK {
		t.Errorf("instance 1 %+v", a)
	}
	if b.ID != parent.ID+"/2" || b.MemUsed.Or(-1) != 10<<30 || b.MemTotal.Or(-1) != 10<<30 || b.SM.Or(-1) != 0.10 {
		t.Errorf("instance 2 %+v", b)
	}
}

func TestNVMLOldestLibraryDoesNotEndTheProcess(t *testing.T) {
	t.Parallel()
	st := readWith(t, buildStub(t, "nvml_minimal.c"))
	if len(st.GPUs) != 2 || st.Why != "" {
		t.Fatalf("%+v", st)
	}
	for i, busy := range []float64{0.43, 0.07} {
		if g := st.GPUs[i]; g.Busy.Or(-1) != busy || g.SM.OK || g.MemTotal.OK || g.Power.OK || g.ID == "" {
			t.Errorf("GPU %d %+v", i, g)
		}
	}
}
