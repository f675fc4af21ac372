package core

import (
	"syscall"
	"time"
)

// fineSleep sleeps in the kernel, to within about 0.1 ms. A signal may end it
// early.
func fineSleep(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
