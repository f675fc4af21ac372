package common

import (
	"testing"
)

func TestMeminfo(t *testing.T) {
	used, total, ok := parseMeminfo("MemTotal:       127600748 kB\nMemFree: 1 kB\nMemAvailable:   118566368 kB\n")
	if !ok || total != 127600748<<10 || used != 9034380<<10 {
		t.Error(used, total, ok)
	}
	for _, text := range []string{"", "MemTotal: 5 kB\n", "MemTotal: 5 kB\nMemAvailable: 6 kB\n", "MemTotal: x kB\nMemAvailable: 1 kB\n"} {
		if _, _, ok := parseMeminfo(text); ok {
			t.Errorf("%q is accepted", text)
		}
	}
}
