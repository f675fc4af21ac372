package nvml

import (
	"testing"

	"sonde/probe/opt"
)

func TestMeminfo(t *testing.T) {
	used, total := ParseMeminfo("MemTotal:       127600748 kB\nMemFree: 1 kB\nMemAvailable:   118566368 kB\n")
	if total != opt.Of(127600748<<10) || used != opt.Of(9034380<<10) {
		t.Error(used, total)
	}
	for _, text := range []string{"", "MemTotal: 5 kB\n", "MemTotal: 5 kB\nMemAvailable: 6 kB\n", "MemTotal: x kB\nMemAvailable: 1 kB\n"} {
		if used, total := ParseMeminfo(text); used.OK || total.OK {
			t.Errorf("%q is accepted", text)
		}
	}
}
