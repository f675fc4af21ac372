//go:build unix

package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time that this process has used, user and system.
func CPU() (time.Duration, bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// FileLimit is how many files this process may have open. Go raises the soft
// limit to the hard one on its own.
func FileLimit() (uint64, bool) {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0, false
	}
	return uint64(l.Cur), true
}
