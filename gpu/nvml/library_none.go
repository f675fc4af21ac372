//go:build !linux || !(amd64 || arm64) || static

package nvml

import (
	"context"
	"errors"
	"time"

	"sonde/gpu"
)

// Built reports whether this build can load the driver's library.
const Built = false

var errNotBuilt = errors.New("this build has no NVML (it needs Linux on amd64 or arm64, and not the static build)")

// Open fails: this build cannot open a library at run time.
func Open(time.Duration) (*Reader, error) { return nil, errNotBuilt }

// Reader is what no Open of this build returns.
type Reader struct{}

// Read fails.
func (*Reader) Read(context.Context) (gpu.Status, error) { return gpu.Status{}, errNotBuilt }

// Close has nothing to release.
func (*Reader) Close() {}
