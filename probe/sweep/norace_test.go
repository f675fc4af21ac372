//go:build !race

package sweep_test

const underRace = false
