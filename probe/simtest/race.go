//go:build race

package simtest

// UnderRace tells that the race detector watches: everything takes some twenty times
// as long. Tests that play many scenarios over the same code play a few of them then.
const UnderRace = true
