package report

import (
	"slices"
	"testing"

	"sonde/gpu"
	"sonde/probe/level"
)

func TestRemarksAboutGPUs(t *testing.T) {
	busyOnly := "SM and DRAM: needs Hopper or newer, or DCGM"
	for name, c := range map[string]struct {
		status gpu.Status
		want   []string
	}{
		"none": {gpu.Status{Why: "no NVIDIA driver found"}, []string{"no GPU readings: no NVIDIA driver found"}},
		"off":  {gpu.Status{State: gpu.Off}, nil},
		"soon": {gpu.Status{State: gpu.Looking}, nil},
		"the same of two, one lost": {gpu.Status{GPUs: []gpu.Reading{
			{ID: "a", Note: busyOnly}, {ID: "b", Index: 1, Note: busyOnly}, {ID: "c", Index: 2, Lost: true, Note: "GPU lost (code 15)"},
			{ID: "a/1", Parent: "a", Note: "part"},
		}}, []string{"GPUs: " + busyOnly, "GPU 2: GPU lost (code 15)"}},
	} {
		if got := aboutGPUs(&level.Level{Sources: level.Sources{GPU: c.status}}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
