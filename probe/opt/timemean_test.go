package opt

import (
	"testing"
	"time"
)

// 10 for one second and 40 for two are 30 on average: (10·1 + 40·2) / 3.
func TestTimeMean(t *testing.T) {
	var a, b TimeMean
	if a.Mean().OK || a.Max().OK {
		t.Error("nothing has a mean")
	}
	a.Add(Of(10), time.Second)
	a.Add(Float{}, time.Hour)
	a.Add(Of(99), 0)
	b.Add(Of(40), 2*time.Second)
	a.Merge(&b)
	if got := a.Mean(); got != Of(30) {
		t.Errorf("mean %v, want 30", got)
	}
	if got := a.Max(); got != Of(40) {
		t.Errorf("largest %v, want 40", got)
	}
}
