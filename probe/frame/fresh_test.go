package frame

import (
	"testing"
	"time"

	"sonde/gpu"
)

// Three periods, at least five seconds; of unknown age a reading counts.
func TestFreshness(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := &Frame{At: time.Minute, Target: Target{Started: started}}
	taken := func(age time.Duration) time.Time { return started.Add(time.Minute - age) }
	for _, c := range []struct {
		age, period time.Duration
		want        bool
	}{
		{0, 0, true}, {5 * time.Second, 0, true}, {5*time.Second + 1, 0, false},
		{5 * time.Second, time.Second, true}, {6 * time.Second, time.Second, false},
		{90 * time.Second, 30 * time.Second, true}, {91 * time.Second, 30 * time.Second, false},
		{-time.Hour, 0, true}, // a clock that runs ahead of ours
	} {
		if got := f.Fresh(taken(c.age), c.period); got != c.want {
			t.Errorf("age %v, period %v: fresh %v, want %v", c.age, c.period, got, c.want)
		}
	}
	if !f.Fresh(time.Time{}, 0) || !(&Frame{At: time.Hour}).Fresh(started, 0) {
		t.Error("a reading of unknown age does not count")
	}
}

func TestReadingsThatAreFresh(t *testing.T) {
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := &Frame{At: time.Minute, Target: Target{Started: started}}
	if _, ok := f.FreshEngine(); ok {
		t.Error("an engine that was never read is fresh")
	}
	f.Engine.Have, f.Engine.Reading.At = true, started.Add(time.Minute)
	f.GPU = gpu.Status{At: started, GPUs: []gpu.Reading{{ID: "a"}}}
	if r, ok := f.FreshEngine(); !ok || r != &f.Engine.Reading {
		t.Error("a reading of now is not fresh")
	}
	if f.FreshGPUs() != nil {
		t.Error("GPU readings of a minute ago are fresh")
	}
	f.GPU.Period = 30 * time.Second
	if len(f.FreshGPUs()) != 1 {
		t.Error("an exporter with a period of 30 s is late after one minute")
	}
}
