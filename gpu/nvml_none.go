//go:build !(linux && cgo)

package gpu

import "errors"

// openLocal says that this build cannot load the driver's library: the binding
// needs cgo and Linux.
func openLocal(Options) (reader, error) {
	return nil, errors.New("this build has no NVML (it needs Linux and cgo)")
}

// BuiltWithNVML tells whether this build can load the driver's library.
const BuiltWithNVML = false
