//go:build !unix

package process

import "time"

// CPU cannot be told here.
func CPU() (time.Duration, bool) { return 0, false }

// FileLimit: there is none that matters here.
func FileLimit() (uint64, bool) { return 0, false }
