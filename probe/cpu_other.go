//go:build !unix

package probe

import "time"

// processCPU cannot be told here.
func processCPU() (time.Duration, bool) { return 0, false }
