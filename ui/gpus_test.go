package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sonde/gpu"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// withGPUs is a screen whose newest Frame has these readings, taken 0.4 s before.
func withGPUs(w, h int, status gpu.Status) *model {
	s := newFake(2).play(2 * time.Second)
	f := *s.frames[len(s.frames)-1]
	f.GPU = status
	f.GPU.At = fakeStart.Add(f.At - 400*time.Millisecond)
	m := newModel(Options{Frames: &playback{frames: []*frame.Frame{&f}}}, newTestTheme())
	m.pull(time.Now())
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

func screen(m *model) string { return ansi.Strip(m.View().Content) }

// hoppers are n GPUs; number i has i % more SM activity than 50 %.
func hoppers(n int) []gpu.Reading {
	var all []gpu.Reading
	for i := range n {
		all = append(all, gpu.Reading{
			ID: fmt.Sprintf("GPU-%d", i), Index: i, Name: "NVIDIA H100 80GB HBM3", Source: "nvml-gpm",
			SM: opt.Of(0.5 + float64(i%40)/100), DRAM: opt.Of(0.25), Busy: opt.Of(1), Power: opt.Of(512), PowerLimit: opt.Of(700),
			MemUsed: opt.Of(65 << 30), MemTotal: opt.Of(80 << 30), PCIeSent: opt.Of(1.5e9), PCIeReceived: opt.Of(2e9),
		})
	}
	return all
}

// gpuBody is the inside of the GPU panel, line by line: between the border that
// begins with its name and the next one.
func gpuBody(t *testing.T, text, name string) []string {
	t.Helper()
	lines := strings.Split(text, "\n")
	for y, l := range lines {
		x := strings.Index(l, "╭ "+name+" ")
		if x < 0 {
			continue
		}
		from := len([]rune(l[:x]))
		width := strings.IndexRune(l[x:], '╮')
		to := from + len([]rune(l[x:x+width]))
		var body []string
		for _, l := range lines[y+1:] {
			r := []rune(l)
			if r[from] == '╰' {
				return append(body, string(r[from:to]))
			}
			body = append(body, string(r[from+1:to]))
		}
	}
	t.Fatalf("no panel %q:\n%s", name, text)
	return nil
}

func TestEachGPUHasARow(t *testing.T) {
	for _, n := range []int{2, 4, 8, 16} {
		body := gpuBody(t, screen(withGPUs(120, 40, gpu.Status{GPUs: hoppers(n), Source: "nvml", Period: time.Second})), fmt.Sprintf("GPU ×%d", n))
		text := strings.Join(body, "\n")
		for i := range n {
			if want := fmt.Sprintf("%2d ", i); !strings.Contains(text, want) || !strings.Contains(text, fmt.Sprintf("%d %%", 50+i)) {
				t.Errorf("%d GPUs: no row of number %d:\n%s", n, i, text)
			}
		}
		if !strings.Contains(text, "█") || !strings.Contains(text, "50%┤") {
			t.Errorf("%d GPUs: no bars, or no chart below them:\n%s", n, text)
		}
		if narrow := n > 8; strings.Contains(text, "512 W") == narrow {
			t.Errorf("%d GPUs: power shown: %t", n, !narrow)
		}
	}
}

func TestOneGPUIsAChart(t *testing.T) {
	text := screen(withGPUs(120, 40, gpu.Status{GPUs: hoppers(1), Source: "nvml", Period: time.Second}))
	if body := strings.Join(gpuBody(t, text, "GPU 0"), "\n"); strings.Contains(body, "#") || !strings.Contains(body, "100%┤") {
		t.Errorf("%s", body)
	}
}

// On 18 cells 4 GPUs have a row each, 16 a cell each: SM of 50 to 65 % is 5 or 6
// eighths, 25 % of DRAM 2 of them, 512 of 700 W 6, 65 of 80 GiB 7. The third is lost.
func TestManyGPUsInASmallPanelAreACellEach(t *testing.T) {
	four := gpuBody(t, screen(withGPUs(80, 24, gpu.Status{GPUs: hoppers(4), Source: "nvml"})), "GPU ×4")
	if len(four) != 6 || !slices.Equal(strings.Fields(four[4]), []string{"3", "53", "%", "25", "%"}) {
		t.Errorf("%q", four)
	}
	all := hoppers(16)
	all[2] = gpu.Reading{ID: "GPU-2", Index: 2, Lost: true, Note: "GPU lost (code 15): reset it or reboot"}
	body := gpuBody(t, screen(withGPUs(80, 24, gpu.Status{GPUs: all, Source: "nvml"})), "GPU ×16")
	for i, want := range []string{"SM", "DR", "W ", "M ", "lost 2"} {
		if line := []rune(body[i]); !strings.HasPrefix(body[i], want) || i < 4 && (len(line) != 18 || line[4] != ' ' || strings.Count(string(line[2:]), " ") != 1) {
			t.Errorf("line %d is %q, want %q and 15 cells of 16", i, body[i], want)
		}
	}
	if body[1][2:] != "▃▃ "+strings.Repeat("▃", 13) {
		t.Errorf("25 %% of eight steps: %q", body[1])
	}
}

func TestALostGPUIsNamedWithItsCode(t *testing.T) {
	all := hoppers(4)
	all[3] = gpu.Reading{ID: "GPU-3", Index: 3, Name: "NVIDIA H100 80GB HBM3", Lost: true, Note: "GPU lost: Xid 79 (GPU has fallen off the bus)"}
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		m := withGPUs(size[0], size[1], gpu.Status{GPUs: all, Source: "dcgm http://h:9400/metrics"})
		text := screen(m)
		if !strings.Contains(text, "GPU 3 lost") && !strings.Contains(text, "3 GPU lost") {
			t.Errorf("%v: the lost GPU is not named:\n%s", size, text)
		}
		pressAll(m, "6z")
		if text := screen(m); !strings.Contains(text, "3  GPU lost: Xid 79 (GPU has fallen off the bus)") || !strings.Contains(text, "1536 W (3 of 4)") {
			t.Errorf("%v: zoomed\n%s", size, text)
		}
	}
}

// Without SM activity the column, the title and the chart are of busy time, and
// nothing is called SM or bandwidth.
func TestBusyTimeIsNeverCalledSM(t *testing.T) {
	all := hoppers(2)
	for i := range all {
		all[i].SM, all[i].DRAM, all[i].Source, all[i].Busy = opt.Float{}, opt.Float{}, "nvidia-smi", opt.Of(0.97)
		all[i].Note = "SM and DRAM: nvidia-smi has none"
	}
	m := withGPUs(120, 40, gpu.Status{GPUs: all, Source: "nvidia-smi", Period: time.Second})
	body := gpuBody(t, screen(m), "GPU ×2")
	if !strings.Contains(screen(m), "busy 97 % max 97 %") || strings.Fields(body[0])[1] != "busy" || !strings.Contains(body[1], " 97 % ") || strings.Contains(body[1], "b97") {
		t.Errorf("%q", body[:3])
	}
	if !strings.Contains(body[1], "—") {
		t.Errorf("DRAM is unknown: %q", body[1])
	}
	all[1].SM = opt.Of(0.4) // of one of them it is known
	body = gpuBody(t, screen(withGPUs(120, 40, gpu.Status{GPUs: all, Source: "nvml", Period: time.Second})), "GPU ×2")
	if strings.Fields(body[0])[1] != "SM" || !strings.Contains(body[1], "b97%") || !strings.Contains(body[2], " 40 % ") {
		t.Errorf("mixed: %q", body[:3])
	}
}

func TestPartsOfAGPUAreRowsWithoutItsPower(t *testing.T) {
	all := hoppers(1)
	all[0].SM, all[0].Busy, all[0].Note = opt.Float{}, opt.Float{}, "utilisation n/a (MIG)"
	for i, sm := range []float64{0.9, 0.1} {
		all = append(all, gpu.Reading{ID: fmt.Sprintf("GPU-0/%d", i+1), Parent: "GPU-0", Name: "NVIDIA H100 80GB HBM3 MIG 3g.40gb", SM: opt.Of(sm)})
	}
	m := withGPUs(120, 40, gpu.Status{GPUs: all, Source: "nvml", Period: time.Second})
	text := screen(m)
	body := gpuBody(t, text, "GPU 0 MIG ×2")
	if !strings.Contains(text, "SM 50 % max 90 %") || !strings.Contains(text, " 512 W ╮") || !strings.HasPrefix(body[2], " .1 ") || !strings.Contains(body[3], "10 %") {
		t.Errorf("%q\n%s", body, text)
	}
	pressAll(m, "6z")
	if text := screen(m); !strings.Contains(text, "utilisation n/a (MIG)") || !strings.Contains(text, "H100 80GB MIG 3g.40gb") {
		t.Errorf("zoomed:\n%s", text)
	}
}

func TestZoomTellsEachFieldsSourceAndAge(t *testing.T) {
	m := withGPUs(120, 40, gpu.Status{GPUs: hoppers(1), Source: "nvml", Period: time.Second})
	pressAll(m, "6z")
	text := screen(m)
	for _, want := range []string{"from nvml · 400 ms old · new values every 1 s", "50 %  GPM SM_UTIL", "25 %  GPM DRAM_BW_UTIL", "100 %  nvmlDeviceGetUtil",
		"1.50 GB/s  GPM PCIE_TX_PER_SEC", "—  GPM ANY_TENSOR_UTIL", "1.50 2.00"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	pressAll(m, "i")
	text = strings.Join(strings.Fields(strings.NewReplacer("│", " ").Replace(screen(m))), " ")
	for _, want := range []string{"source nvml", "interval new values every 1 s"} {
		if !strings.Contains(text, want) {
			t.Errorf("explained: no %q in\n%s", want, text)
		}
	}
}

// 9034380 KiB of 127600748 KiB.
func TestSharedMemoryIsMarked(t *testing.T) {
	all := hoppers(1)
	all[0].MemShared, all[0].MemUsed, all[0].MemTotal = true, opt.Of(9034380*1024), opt.Of(127600748*1024)
	m := withGPUs(120, 40, gpu.Status{GPUs: all, Source: "nvml"})
	pressAll(m, "6z")
	if text := screen(m); !strings.Contains(text, "memory 8.6 of 121.7 GiB shared (7.1 %)") || !strings.Contains(text, "/proc/meminfo") {
		t.Errorf("%s", text)
	}
}

// One card of two reports no power: the sum says of how many it is, and no 0 W is
// written. On WSL2 total memory is all there is of it.
func TestWhatOneCardDoesNotTell(t *testing.T) {
	all := hoppers(2)
	all[0].Power, all[0].PowerLimit, all[0].MemUsed, all[0].MemTotal = opt.Float{}, opt.Float{}, opt.Float{}, opt.Of(17179869184)
	all[1].Power, all[1].PowerLimit = opt.Of(120), opt.Of(300)
	m := withGPUs(120, 40, gpu.Status{GPUs: all, Source: "nvml"})
	body := gpuBody(t, screen(m), "GPU ×2")
	if !strings.Contains(screen(m), "120 W (1 of 2)") || !strings.Contains(body[1], "— W") || strings.Contains(strings.Join(body, ""), " 0 W") {
		t.Errorf("%q", body)
	}
	pressAll(m, "6z")
	if text := screen(m); !strings.Contains(text, "— / 16.0") || !strings.Contains(text, "120 / 300") {
		t.Errorf("%s", text)
	}
}

// Some counters exceed the whole a little: the bar is full, and the number says so.
func TestSharesBeyondTheWhole(t *testing.T) {
	all := hoppers(2)
	all[0].SM, all[1].SM = opt.Of(1.02), opt.Of(85)
	body := gpuBody(t, screen(withGPUs(120, 40, gpu.Status{GPUs: all, Source: "nvml"})), "GPU ×2")
	if !strings.HasPrefix(body[1], "  0 ███████") || !strings.Contains(body[1], ">100% ") || strings.Fields(body[2])[1] != "—" || strings.Contains(body[2], "8500") {
		t.Errorf("%q", body[:3])
	}
}

// 300 devices, as of a fleet with MIG: nothing is drawn beyond the panel, and the
// sums and the named count hold.
func TestMoreGPUsThanThereIsRoomFor(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {250, 70}} {
		m := withGPUs(size[0], size[1], gpu.Status{GPUs: hoppers(300), Source: "nvml"})
		for _, keys := range []string{"", "6z", "i"} {
			pressAll(m, keys)
			if keys == "6z" && !m.zoomed {
				pressAll(m, "z") // where the panel has no place of its own, 6 alone zooms
			}
			if err := checkSize(m.View().Content, size[0], size[1]); err != nil {
				t.Errorf("%v after %q: %v", size, keys, err)
			}
			// 60×16: 13 lines between title, verdict and keys, of which 2 are borders and 1 names the columns
			if keys == "6z" && size[1] == 16 && !strings.Contains(screen(m), "… and 291 more") {
				t.Errorf("what is omitted is not shown:\n%s", screen(m))
			}
		}
	}
}
