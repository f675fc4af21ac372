package frame

import (
	"slices"
	"testing"

	"sonde/probe/engine/kinds"
)

func TestKindsWithOpaqueWeightsAreDetected(t *testing.T) {
	for kind := range opaqueWeights {
		if !slices.Contains(kinds.IDs(), kind) {
			t.Errorf("no engine is detected as %q, whose weights are opaque", kind)
		}
	}
}
