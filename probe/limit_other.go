//go:build !unix

package probe

// fileLimit: there is none that matters here.
func fileLimit() (uint64, bool) { return 0, false }
