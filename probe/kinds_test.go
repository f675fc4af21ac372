package probe

import (
	"testing"

	"sonde/probe/api"
	"sonde/probe/engine/kinds"
)

// Tables by engine kind are in several packages; detection has the names.
func TestKindsAreDetected(t *testing.T) {
	for kind := range api.MinLength {
		if kinds.ByID(kind).ID == "" {
			t.Errorf("no engine is detected as %q, whose output length is forced", kind)
		}
	}
}
