//go:build !(linux && cgo)

package nvml

import (
	"errors"
	"time"
)

// Built reports whether this build can load the driver's library.
const Built = false

// Open fails: the binding needs Linux and cgo.
func Open(time.Duration) (*Reader, error) {
	return nil, errors.New("this build has no NVML (it needs Linux and cgo)")
}
