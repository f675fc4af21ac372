//go:build !race

package simtest

// UnderRace tells that the race detector watches.
const UnderRace = false
