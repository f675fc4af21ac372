//go:build !unix

package process

import "time"

// CPU is unknown on this system.
func CPU() (time.Duration, bool) { return 0, false }

// FileLimit is not known on this system: none that matters applies.
func FileLimit() (uint64, bool) { return 0, false }
