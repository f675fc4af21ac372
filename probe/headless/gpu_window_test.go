package headless

import (
	"slices"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/frame"
)

func TestRemarksAboutGPUs(t *testing.T) {
	busyOnly := "SM and DRAM: needs Hopper or newer, or DCGM"
	for name, c := range map[string]struct {
		status gpu.Status
		want   []string
	}{
		"none": {gpu.Status{Why: "no NVIDIA driver here"}, []string{"no GPU readings: no NVIDIA driver here"}},
		"off":  {gpu.Status{State: gpu.Off}, nil},
		"soon": {gpu.Status{State: gpu.Looking}, nil},
		"the same of two, one lost": {gpu.Status{GPUs: []gpu.Reading{
			{ID: "a", Note: busyOnly}, {ID: "b", Index: 1, Note: busyOnly}, {ID: "c", Index: 2, Lost: true, Note: "GPU lost (code 15)"},
			{ID: "a/1", Parent: "a", Note: "part"},
		}}, []string{"GPUs: " + busyOnly, "GPU 2: GPU lost (code 15)"}},
	} {
		var g gpuWindow
		g.add(&frame.Frame{GPU: c.status}, time.Second, true)
		if got := g.remarks(&c.status); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
