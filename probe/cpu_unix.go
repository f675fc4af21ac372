//go:build unix

package probe

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the CPU time that this process has used, user and system.
func processCPU() (time.Duration, bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
