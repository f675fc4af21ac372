//go:build !(linux && cgo)

package nvml

import (
	"testing"
)

func TestBuildWithoutNVMLSaysSo(t *testing.T) {
	if _, err := Open(0); err == nil || err.Error() != "this build has no NVML (it needs Linux and cgo)" {
		t.Error(err)
	}
}
