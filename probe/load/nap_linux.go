package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// nap sleeps by the system's own clock. A timer of the runtime is up to a millisecond late where the
// process has nothing else to do: it waits for network and timers in whole milliseconds.
func nap(d time.Duration) {
	for end := time.Now().Add(d); d > 0; d = time.Until(end) {
		t := unix.NsecToTimespec(d.Nanoseconds())
		_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil) // a signal ends it early
	}
}
