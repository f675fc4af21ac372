package sim

import (
	"testing"
	"testing/synctest"

	"sonde/probe/sim/faults"
)

// Whatever can be switched on can be switched off again, and stands alone.
func TestEverySwitchGoesOnAndOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{VirtualTime: true})
		if err != nil {
			t.Fatal(err)
		}
		s.Start(t.Context())
		before := s.Switches()
		if len(before) != 2+len(faults.Kinds)+len(faults.Scenarios) {
			t.Errorf("%d switches", len(before))
		}
		for i, sw := range before {
			if err := s.Flip(sw.Name); err != nil {
				t.Fatalf("%s: %v", sw.Name, err)
			}
			if now := s.Switches()[i]; (now.Value == "") == (sw.Value == "") {
				t.Errorf("%s stays %q: %+v", sw.Name, now.Value, s.Faults())
			}
			if err := s.Flip(sw.Name); err != nil {
				t.Fatalf("%s: %v", sw.Name, err)
			}
		}
		for i, now := range s.Switches() {
			if now != before[i] {
				t.Errorf("%s was %q and is %q", now.Name, before[i].Value, now.Value)
			}
		}
		if s.Flip("gremlins") == nil {
			t.Error("a switch that does not exist was flipped")
		}
	})
}
