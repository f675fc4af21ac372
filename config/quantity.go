package config

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Amounts are written the way people write them.
type (
	// Count is a number such as 6000, 6k or 1.5M.
	Count float64
	// PerSecond is a rate: 4, 4/s, 240/min or 10k/h. Without a unit it is per second.
	PerSecond float64
	// PerMinute is a rate that is written per minute and kept per second.
	PerMinute float64
	// Seconds is a time with its unit: 8s or 40ms.
	Seconds float64
	// Fraction is a share: 50% or 0.5.
	Fraction float64
)

// largest bounds amounts: anything larger is a typo.
const largest = 1e12

var errAmount = errors.New("no amount")

// parseCount reads a number from 0 on with a suffix k, M, G or B (thousands,
// millions, billions). A comma or an underscore may part thousands.
func parseCount(s string) (float64, error) {
	s = strings.TrimSpace(s)
	scale := 1.0
	for suffix, by := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9} {
		if rest, found := strings.CutSuffix(s, suffix); found {
			s, scale = rest, by
			break
		}
	}
	digits := withoutSeparators(strings.TrimSpace(s))
	if digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return 0, errAmount // signs, exponents, hexadecimals and names of no number
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(v*scale <= largest) {
		return 0, errAmount
	}
	return v * scale, nil
}

// withoutSeparators takes out what parts groups of three digits; text that is
// grouped otherwise stays, and is then no number.
func withoutSeparators(s string) string {
	whole, _, _ := strings.Cut(s, ".")
	for _, mark := range []string{",", "_"} {
		groups := strings.Split(whole, mark)
		if len(groups) == 1 {
			continue
		}
		for i, g := range groups {
			if i > 0 && len(g) != 3 || i == 0 && (len(g) == 0 || len(g) > 3) {
				return s
			}
		}
		return strings.ReplaceAll(whole, mark, "") + s[len(whole):]
	}
	return s
}

// parsePerSecond reads a rate.
func parsePerSecond(s string) (float64, error) {
	number, unit, found := strings.Cut(s, "/")
	seconds, known := map[string]float64{
		"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400,
	}[strings.TrimSpace(unit)]
	if !found {
		seconds, known = 1, true
	}
	v, err := parseCount(number)
	if err != nil || !known {
		return 0, errAmount
	}
	return v / seconds, nil
}

func parsePerMinute(s string) (float64, error) {
	v, err := parseCount(s)
	return v / 60, err
}

// parseFraction reads percent, or a share up to 1. A bare 50 might be either, and
// is refused.
func parseFraction(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := parseCount(number)
	switch {
	case err != nil:
		return 0, err
	case percent:
		return v / 100, nil
	case v > 1:
		return 0, errAmount
	}
	return v, nil
}

// parseSeconds reads a time.
func parseSeconds(s string) (float64, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	return d.Seconds(), err
}
