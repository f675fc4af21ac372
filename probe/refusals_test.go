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

// A wait of hours is reported with its time at once, and once for all streams that are
// refused together; a wait of seconds is not worth a line.
func TestLongWaitIsReported(t *testing.T) {
	w := &refusals{commands: &commands{}, skipped: true}
	started := time.Date(2026, 5, 4, 14, 20, 0, 0, time.Local)
	refuse := func(at, wait time.Duration) []frame.Event {
		f := &frame.Frame{At: at, Target: frame.Target{Started: started}}
		f.Requests = []measure.Request{{Class: measure.RateLimited, End: at, RetryAfter: wait}, {Class: measure.RateLimited, End: at, RetryAfter: wait}}
		w.add(f, nil)
		return f.Events
	}
	if got := refuse(time.Second, 20*time.Second); got != nil {
		t.Errorf("20 s: %v", got)
	}
	got := refuse(time.Minute, 3*time.Hour)
	if len(got) != 1 || got[0].Kind != frame.EventNote || got[0].Text != "the server asked to wait 3 h, until 17:21" {
		t.Errorf("3 h: %v", got)
	}
	if got := refuse(time.Minute+time.Second, 3*time.Hour); got != nil {
		t.Errorf("the next stream: %v", got)
	}
	if got := refuse(2*time.Hour, 24*time.Hour); len(got) != 1 || got[0].Text != "the server asked to wait 24 h, until 5 May 16:20" {
		t.Errorf("a day: %v", got)
	}
}
