// Package common holds what sources of GPU readings share: how to clean up values and
// texts, and what NVIDIA's faults and masks mean.
package common

import (
	"math"
	"strconv"
	"strings"

	"sonde/probe/opt"
	"sonde/probe/plain"
)

// MiB is a mebibyte, in which drivers and exporters count memory.
const MiB = 1 << 20

const maxLabelRunes = 120

// Clean makes text from a driver or an exporter safe to show.
func Clean(s string) string { return plain.Line(s, maxLabelRunes) }

// Join puts notes into one line, without the empty ones.
func Join(notes ...string) string {
	var kept []string
	for _, n := range notes {
		if n != "" {
			kept = append(kept, n)
		}
	}
	return strings.Join(kept, "; ")
}

// Number is the number of a GPU or of an instance, -1 if the label has none.
func Number(label string) int {
	n, err := strconv.Atoi(label)
	if err != nil {
		return -1
	}
	return n
}

// AtMost drops impossible values: NVML's time share is a whole percentage up to 100.
func AtMost(v opt.Float, limit float64) opt.Float {
	if v.V > limit {
		return opt.Float{}
	}
	return v
}

// Positive drops 0: no GPU that answers draws 0 W or has a limit of 0 W.
func Positive(v opt.Float) opt.Float {
	if v.V <= 0 || math.IsNaN(v.V) {
		return opt.Float{}
	}
	return v
}
