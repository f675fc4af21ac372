//go:build unix

package probe

import "golang.org/x/sys/unix"

// fileLimit is how many files this process may have open. Go raises the soft
// limit to the hard one by itself.
func fileLimit() (uint64, bool) {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0, false
	}
	return uint64(l.Cur), true
}
