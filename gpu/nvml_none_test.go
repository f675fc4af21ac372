//go:build !(linux && cgo)

package gpu

import "testing"

func TestBuildWithoutNVMLSaysSo(t *testing.T) {
	if _, err := openLocal(Options{}); err == nil || err.Error() != "this build has no NVML (it needs Linux and cgo)" {
		t.Error(err)
	}
}
