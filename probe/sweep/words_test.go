package sweep

import (
	"testing"
	"time"
)

// From a quarter less to half more, to tens of seconds or whole minutes.
func TestTheTimeLeftIsARange(t *testing.T) {
	for left, want := range map[time.Duration]string{
		0: "up to 10 s", 8 * time.Second: "up to 20 s", 20 * time.Second: "10–30 s", 40 * time.Second: "30–60 s",
		50 * time.Second: "up to 2 min", 95 * time.Second: "1–3 min", 10 * time.Minute: "7–15 min",
	} {
		s := Status{Left: left}
		if got := s.Remaining(); got != want {
			t.Errorf("%v: %q, want %q", left, got, want)
		}
	}
}
