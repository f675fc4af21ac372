package probe

import (
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// Behind a balancer one replica loads while the others answer: that is news once, and
// again only when no request has met a loading model for a while.
func TestLoadingIsNewsOnce(t *testing.T) {
	w := &refusals{commands: &commands{}, skipped: true}
	notes := 0
	for second := 1; second <= 60; second++ {
		f := &frame.Frame{At: time.Duration(second) * time.Second}
		f.Requests = []measure.Request{{}, {Class: measure.Loading}, {}, {Class: measure.Loading}}
		if second > 20 && second < 40 {
			f.Requests = f.Requests[:1]
		}
		w.add(f, nil)
		notes += len(f.Events)
	}
	if notes != 2 {
		t.Errorf("%d notes, want one for each time that a model was loaded", notes)
	}
}
