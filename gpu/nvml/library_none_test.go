//go:build !linux || !(amd64 || arm64) || static

package nvml

import (
	"testing"
)

func TestBuildWithoutNVMLSaysSo(t *testing.T) {
	if _, err := Open(0); err == nil || err.Error() != "this build has no NVML (it needs Linux on amd64 or arm64, and not the static build)" {
		t.Error(err)
	}
}
