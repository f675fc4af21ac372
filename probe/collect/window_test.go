package collect

import (
	"math"
	"testing"
	"time"
)

func TestWindowForgets(t *testing.T) {
	w := NewWindow()
	for sec := range 100 {
		w.Add(time.Duration(sec)*time.Second, float64(sec))
	}
	now := 99*time.Second + 500*time.Millisecond
	if s := w.Summary(now, 10*time.Second); s.N != 10 || s.Min != 90 || s.Max != 99 {
		t.Errorf("10 s: %+v", s)
	}
	if s := w.Summary(now, time.Minute); s.N != 60 || s.Min != 40 {
		t.Errorf("60 s: %+v", s)
	}
	if s := w.Summary(now+time.Hour, time.Minute); s.N != 0 {
		t.Errorf("an hour later: %+v", s)
	}
}

// The merge that is kept for a second never hides a sample.
func TestWindowBetweenTicks(t *testing.T) {
	w := NewWindow()
	n := 0
	for tick := range 400 {
		now := time.Duration(tick) * 250 * time.Millisecond
		for range tick % 3 {
			w.Add(now, float64(tick))
			n++
		}
		want := 0
		first := int64(now/time.Second) - 9 // ten whole seconds, the one that is filling included
		for past := 0; past <= tick; past++ {
			if int64(time.Duration(past)*250*time.Millisecond/time.Second) >= first {
				want += past % 3
			}
		}
		if got := w.Summary(now, 10*time.Second); got.N != want {
			t.Fatalf("at %v: n %d, want %d", now, got.N, want)
		}
	}
}

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }
