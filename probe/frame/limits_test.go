package frame

import (
	"testing"

	"sonde/probe/engine/kinds"
)

func TestKindsWithOpaqueWeightsAreDetected(t *testing.T) {
	for kind := range opaqueWeights {
		if kinds.ByID(kind).ID == "" {
			t.Errorf("no engine is detected as %q, whose weights are opaque", kind)
		}
	}
}
