package probe

import (
	"slices"
	"testing"

	"sonde/probe/api"
	"sonde/probe/engine/kinds"
)

// Tables by engine kind are in several packages; detection has the names.
func TestKindsAreDetected(t *testing.T) {
	known := kinds.IDs()
	for kind := range api.MinLength {
		if !slices.Contains(known, kind) {
			t.Errorf("no engine is detected as %q, whose output length is forced", kind)
		}
	}
}
