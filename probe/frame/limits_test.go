package frame

import (
	"slices"
	"testing"

	"sonde/probe/engine/scrape"
)

func TestKindsWithOpaqueWeightsAreDetected(t *testing.T) {
	for kind := range opaqueWeights {
		if !slices.Contains(scrape.Kinds(), kind) {
			t.Errorf("no engine is detected as %q, whose weights are opaque", kind)
		}
	}
}
