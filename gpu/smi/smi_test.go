package smi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/gpu"
	"sonde/gpu/tool"
	"sonde/probe/opt"
)

// scripted is a machine that answers each run with the next output, the last one again and
// again, after a while.
type scripted struct {
	tool.Local
	outputs []tool.Output
	after   time.Duration
	asked   []string
}

func (s *scripted) Run(_ context.Context, _ string, args ...string) tool.Output {
	s.asked = append(s.asked, strings.Join(args, " "))
	time.Sleep(s.after)
	return s.outputs[min(len(s.asked), len(s.outputs))-1]
}

// Memory is that of a DGX Spark.
func (*scripted) Memory() (used, total opt.Float) {
	return opt.Of(9034380 << 10), opt.Of(127600748 << 10)
}

func openScripted(t *testing.T, outputs ...tool.Output) *Reader {
	t.Helper()
	s, err := open(t.Context(), &scripted{outputs: outputs}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// latest is the status of a reader that is not due.
func latest(t *testing.T, s *Reader) gpu.Status {
	t.Helper()
	st, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

const noteSMI = "SM and DRAM: nvidia-smi has them on Hopper and newer (driver R525), DCGM on older GPUs"

// The order of the values is that of queryFields.
func TestNvidiaSMIRows(t *testing.T) {
	l4 := gpu.Reading{
		ID: "GPU-1", Index: 1, Name: "NVIDIA L4", Source: gpu.SourceSMI, Note: noteSMI,
		Busy: opt.Of(0.97), MemBusy: opt.Of(0.62), MemUsed: opt.Of(1000 << 20), MemTotal: opt.Of(23034 << 20),
		Power: opt.Of(40.52), PowerLimit: opt.Of(72), Temperature: opt.Of(50), SMClock: opt.Of(1500e6), MemClock: opt.Of(6251e6),
	}
	without := func(note string, change func(*gpu.Reading)) gpu.Reading { r := l4; r.Note = note; change(&r); return r }
	for name, c := range map[string]struct {
		line string
		want gpu.Reading
	}{
		"everything": {"GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 97, 62, 23034, 1000, 40.52, 72.00, 50, 1500, 6251, [N/A], 0x0", l4},
		"no power": {"GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 97, 62, 23034, 1000, [N/A], [Not Supported], 50, 1500, 6251, [N/A], 0x0",
			without("power not supported here; "+noteSMI, func(r *gpu.Reading) { r.Power, r.PowerLimit = opt.Float{}, opt.Float{} })},
		"MIG": {"GPU-1, 1, NVIDIA L4, 00000000:01:00.0, [N/A], [N/A], 23034, 1000, 40.52, 72.00, 50, 1500, 6251, Enabled, 0x1",
			without("utilisation n/a (MIG): NVML or an exporter shows the instances; "+noteSMI, func(r *gpu.Reading) { r.Busy, r.MemBusy = opt.Float{}, opt.Float{} })},
		"WSL2": {"GPU-1, 1, NVIDIA L4, 00000000:01:00.0, [N/A], [Insufficient Permissions], 23034, 17592186044415, 40.52, 72.00, 50, 1500, 6251, [N/A], 0x0",
			without("utilisation not supported here; "+noteSMI, func(r *gpu.Reading) { r.Busy, r.MemBusy, r.MemUsed = opt.Float{}, opt.Float{}, opt.Float{} })},
		"impossible": {"GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 4294967295, nan, 23034, 1000, 0.00, 72.00, 50, inf, -3, [N/A], junk",
			without("busy time of 4.29G % is not a share and not shown; power not supported here; "+noteSMI, func(r *gpu.Reading) {
				r.Doubts = gpu.DoubtRange
				r.Busy, r.MemBusy, r.Power, r.SMClock, r.MemClock = opt.Float{}, opt.Float{}, opt.Float{}, opt.Float{}, opt.Float{}
			})},
		"lost": {"GPU-1, 1, NVIDIA L4, 00000000:01:00.0, " + strings.Repeat("[GPU is lost], ", 10) + "[GPU is lost]",
			gpu.Reading{ID: "GPU-1", Index: 1, Name: "NVIDIA L4", Source: gpu.SourceSMI, Lost: true, Note: "GPU lost (code 15): reset it or reboot"}},
		"nothing but errors": {"GPU-1, 1, NVIDIA L4, 00000000:01:00.0" + strings.Repeat(", [Unknown Error]", 11),
			gpu.Reading{ID: "GPU-1", Index: 1, Name: "NVIDIA L4", Source: gpu.SourceSMI, Lost: true, Note: "GPU lost (code 15): reset it or reboot"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := gpu.Checked(latest(t, openScripted(t, tool.Output{Text: c.line + "\n"})).GPUs); !slices.Equal(got, []gpu.Reading{c.want}) {
				t.Errorf("%+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestNvidiaSMIUnifiedMemory(t *testing.T) {
	st := latest(t, openScripted(t, tool.Output{Text: "GPU-1, 0, NVIDIA GB10, 0000000F:01:00.0, 35, 0, [N/A], [N/A], 11.17, [N/A], 50, 1500, [N/A], [N/A], [N/A]\n"}))
	if g := st.GPUs[0]; g.MemUsed.Or(-1) != 9034380*1024 || g.MemTotal.Or(-1) != 127600748*1024 || !g.MemShared || g.MemBusy.OK ||
		g.Power.Or(-1) != 11.17 || !strings.HasSuffix(g.Note, "; memory is the system's, shared with the CPU") {
		t.Errorf("%+v", g)
	}
}

// A GPU that fell off the bus is a sentence instead of a row; what it was called
// is known from before, by its PCI address. The others go on, whatever the status.
func TestNvidiaSMILostGPU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := "GPU-%, %, NVIDIA L4, 00000000:0%:00.0, 97, 62, 23034, 1000, 40.52, 72.00, 50, 1500, 6251, [N/A], 0x0\n"
		both := strings.ReplaceAll(row, "%", "0") + strings.ReplaceAll(row, "%", "1")
		s := openScripted(t, tool.Output{Text: both}, tool.Output{Code: 15, Text: strings.ReplaceAll(row, "%", "0") +
			"Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.  Reboot the system to recover this GPU\n"},
			tool.Output{Text: "Unable to determine the device handle for GPU0000:01:00.0: Unknown Error\n" + strings.ReplaceAll(row, "%", "0"), Code: 255})
		for _, note := range []string{"GPU lost (code 15): reset it or reboot", "GPU lost: unknown error"} {
			time.Sleep(time.Second)
			st, err := s.Read(t.Context())
			if err != nil || len(st.GPUs) != 2 {
				t.Fatalf("%v, %+v", err, st)
			}
			if g := st.GPUs[0]; g.ID != "GPU-0" || g.Lost || g.Power.Or(-1) != 40.52 {
				t.Errorf("the other one: %+v", g)
			}
			if g := st.GPUs[1]; g.ID != "GPU-1" || g.Index != 1 || g.Name != "NVIDIA L4" || !g.Lost || g.Note != note || g.Power.OK {
				t.Errorf("%+v, want note %q", g, note)
			}
		}
	})
}

func TestNvidiaSMIWithoutAGPU(t *testing.T) {
	for _, c := range []struct {
		out  tool.Output
		want string
	}{
		{tool.Output{Code: 18, Text: "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.95\n"},
			"nvidia-smi: driver and library versions differ: reload the driver or reboot"},
		{tool.Output{Code: 9, Text: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure…\n"},
			"nvidia-smi: the NVIDIA driver is not loaded: load its kernel module, or give the container access to the GPU"},
		{tool.Output{Text: "No devices were found\n"}, "nvidia-smi: driver present, no GPU visible"},
		{tool.Output{Code: 4, Text: "Failed to initialize NVML: Insufficient Permissions"},
			"nvidia-smi: the NVIDIA driver denies permission: run as a user who can open /dev/nvidiactl"},
		{tool.Output{Code: 17}, "nvidia-smi: the operating system blocks the GPU: check the container's access to its devices"},
		{tool.Output{Code: 42, Text: "odd\x1b[31m\n"}, "nvidia-smi exited with status 42: odd[31m"},
		{tool.Output{Code: 43}, "nvidia-smi exited with status 43"},
		{tool.Output{}, "nvidia-smi lists no GPU"},
		{tool.Output{Text: "hello\n"}, "nvidia-smi lists no GPU: hello"},
		{tool.Output{Err: fmt.Errorf("nvidia-smi %w", tool.ErrMissing)}, "nvidia-smi not found"},
		{tool.Output{Code: 2, Text: `Field "uuid" is not a valid field to query.`}, "nvidia-smi does not know the field uuid: the driver is too old"},
	} {
		_, err := open(t.Context(), &scripted{outputs: []tool.Output{c.out}}, time.Second)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.out, err, c.want)
		}
	}
}

func TestNvidiaSMIDropsFieldsThatTheDriverDoesNotKnow(t *testing.T) {
	m := &scripted{outputs: []tool.Output{
		{Code: 2, Text: "Field \"enforced.power.limit\" is not a valid field to query.\n\n"},
		{Text: "GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 97, 62, 23034, 1000, 40.52, 50, 1500, 6251, [N/A], 0x0\n"}}}
	s, err := open(t.Context(), m, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if g := latest(t, s).GPUs[0]; g.Power.Or(-1) != 40.52 || g.PowerLimit.OK || g.Temperature.Or(-1) != 50 {
		t.Errorf("%+v", g)
	}
	if len(m.asked) != 2 || strings.Contains(m.asked[1], "enforced") || !strings.HasSuffix(m.asked[0], " --format=csv,noheader,nounits") {
		t.Error(m.asked)
	}
}

// A run of 2 s: the next one begins 8 s after it began, and the values say so.
func TestNvidiaSMIThatIsSlowIsAskedLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{after: 2 * time.Second, outputs: []tool.Output{
			{Text: "GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 97, 62, 23034, 1000, 40.52, 72.00, 50, 1500, 6251, [N/A], 0x0\n"}}}
		s, err := open(t.Context(), m, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 5 { // seconds 2 to 6 since the run began
			if st, err := s.Read(t.Context()); err != nil || st.Period != 8*time.Second || !st.At.Equal(began.Add(-time.Second)) {
				t.Fatalf("%v, %+v", err, st)
			}
			time.Sleep(time.Second)
		}
		if len(m.asked) != 1 {
			t.Errorf("%d runs", len(m.asked))
		}
		time.Sleep(time.Second)
		if _, err := s.Read(t.Context()); err != nil || len(m.asked) != 2 {
			t.Errorf("%d runs, %v", len(m.asked), err)
		}
	})
}

// fakeTool puts a shell script named nvidia-smi in front of the PATH.
func fakeTool(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func runTool(ctx context.Context, args ...string) tool.Output {
	return tool.Local{}.Run(ctx, "nvidia-smi", args...)
}

func TestNvidiaSMIAsAProcess(t *testing.T) {
	fakeTool(t, `
case "$1" in --query-gpu=uuid,index,name,*) ;; *) echo "odd question $1" >&2; exit 3;; esac
[ "$2" = --format=csv,noheader,nounits ] || exit 3
[ "$LC_ALL" = C ] || exit 3
echo "GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 97, 62, 23034, 1000, 40.52, 72.00, 50, 1500, 6251, [N/A], 0x0"
echo "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost." >&2
exit 15
`)
	s, err := open(t.Context(), tool.Local{}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if st := latest(t, s); len(st.GPUs) != 2 || st.GPUs[0].Busy.Or(-1) != 0.97 || !st.GPUs[1].Lost || st.Source != "nvidia-smi" {
		t.Errorf("%+v", st)
	}
}

func TestNvidiaSMIThatHangsIsEnded(t *testing.T) {
	fakeTool(t, "exec sleep 60\n")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	out := runTool(ctx)
	if out.Err == nil || !strings.Contains(out.Err.Error(), "no answer from nvidia-smi within 0 s") {
		t.Errorf("%+v", out)
	}
}

func TestNvidiaSMIThatPrintsWithoutEndIsCut(t *testing.T) {
	fakeTool(t, "head -c 5000000 /dev/zero | tr '\\0' x\n")
	if out := runTool(t.Context()); out.Err != nil || len(out.Text) != 1<<20+1 {
		t.Errorf("%d bytes, %v", len(out.Text), out.Err)
	}
}

func TestNoNvidiaSMI(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := os.Stat("/usr/lib/wsl/lib/nvidia-smi"); err == nil {
		t.Skip("WSL2 with a driver")
	}
	if out := runTool(t.Context()); !errors.Is(out.Err, tool.ErrMissing) {
		t.Error(out.Err)
	}
}

func FuzzNvidiaSMIRows(f *testing.F) {
	f.Add("GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 97, 62, 23034, 1000, 40.52, 72.00, 50, 1500, 6251, [N/A], 0x0\n", "")
	f.Add("", "Unable to determine the device handle for GPU 0000:01:00.0: Unknown Error\n")
	f.Fuzz(func(t *testing.T, stdout, stderr string) {
		s := &Reader{fields: queryFields, names: map[string]gpu.Reading{},
			counters: &counters{}, machine: &scripted{}}
		for _, r := range s.rows(stdout + "\n" + stderr) {
			for _, v := range []opt.Float{r.Busy, r.MemBusy, r.MemUsed, r.MemTotal, r.Power, r.SMClock} {
				if v.OK && (v.V < 0 || opt.Of(v.V) != v) || r.ID == "" || r.Busy.V > 1 {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}

func TestClocksThatAreHeldDown(t *testing.T) {
	s := openScripted(t, tool.Output{Text: "GPU-1, 1, NVIDIA L4, 00000000:01:00.0, 97, 62, 23034, 1000, 40.52, 72.00, 50, 1500, 6251, [N/A], 0x0000000000000004\n"})
	if note := latest(t, s).GPUs[0].Note; note != "clocks held down by the power limit; "+noteSMI {
		t.Error(note)
	}
}
