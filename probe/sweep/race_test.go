//go:build race

package sweep_test

// underRace tells that everything takes twenty times as long.
const underRace = true
