package exporter

import (
	"testing"

	"sonde/gpu"
)

// Every quantity that some page or driver of the tests gives has a name in that
// source's own words, and what a source never tells has none.
func TestEveryKnownFieldNamesItsSource(t *testing.T) {
	readings := []gpu.Reading{}
	for name := range pagesRead {
		_, found := readFixture(t, fixture(t, name))
		readings = append(readings, found...)
	}
	for i := range readings {
		for _, f := range readings[i].Fields() {
			if f.Value.OK && f.Source == "" {
				t.Errorf("%s of %s has no source", f.Name, readings[i].Source)
			}
		}
	}
	for _, source := range []string{"nvml", "amd"} {
		r := gpu.Reading{Source: source}
		for _, f := range r.Fields() {
			if f.Name == "DRAM bandwidth" && f.Source != "" {
				t.Errorf("%s: bandwidth from %q: time shares are no bandwidth", source, f.Source)
			}
		}
	}
}

func TestSharedMemoryAndInstancesNameTheirOwnSource(t *testing.T) {
	r := gpu.Reading{Source: "nvml-gpm", MemShared: true, Parent: "GPU-a"}
	found := map[string]string{}
	for _, f := range r.Fields() {
		found[f.Name] = f.Source
	}
	if found["memory used"] != "/proc/meminfo" || found["busy time"] != "GPM GRAPHICS_UTIL" || found["SM active"] != "GPM SM_UTIL" {
		t.Errorf("%v", found)
	}
}
