package config

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// quantity is a number that people write with a unit or a suffix.
type quantity struct {
	must  string // completes "must"
	takes tomlType
	parse func(string) (float64, error)
	toml  func(float64) any
}

// measured is a field that holds a quantity.
type measured struct {
	value *float64
	quantity
}

const mustBeCount = "be a number such as 6000, 6k or 1.5M"

var (
	count     = quantity{mustBeCount, tomlNumber | tomlText, parseCount, func(v float64) any { return v }}
	perSecond = quantity{"be a rate such as 4 (per second) or 240/min", tomlNumber | tomlText, parsePerSecond, count.toml}
	// perMinute is written per minute and kept per second.
	perMinute = quantity{mustBeCount, tomlNumber | tomlText, parsePerMinute, func(v float64) any { return math.Round(v*60e6) / 1e6 }}
	fraction  = quantity{"be a share such as 50% or 0.5", tomlNumber | tomlText, parseFraction, count.toml}
	seconds   = quantity{mustBeTime, tomlText, parseSeconds, func(v float64) any {
		return time.Duration(math.Round(v * float64(time.Second))).String()
	}}
)

// largest bounds amounts: anything larger is a typo.
const largest = 1e12

var (
	errAmount   = errors.New("not an amount")
	errNegative = errors.New("must not be negative") // for the user, instead of what the value must be
)

// countForm is digits with commas or underscores between thousands, decimals and a suffix.
var countForm = regexp.MustCompile(`^\s*((?:\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?:_\d{3})+)?(?:\.\d*)?)\s*([kKMGB]?)\s*$`)

// parseCount reads a number of at least 0 with a suffix k, M, G or B (thousands, millions,
// billions).
func parseCount(s string) (float64, error) {
	parts := countForm.FindStringSubmatch(s)
	if parts == nil {
		return 0, errAmount
	}
	v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(parts[1]), 64)
	v *= map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9}[parts[2]]
	if err != nil || v > largest {
		return 0, errAmount
	}
	return v, nil
}

// parsePerSecond reads a rate: 4, 4/s, 240/min or 10k/h. Without a unit it is per second.
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

// parseFraction reads percent, or a share up to 1. A bare 50 might mean either, and is refused.
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

func parseSeconds(s string) (float64, error) {
	d, err := parseDuration(strings.TrimSpace(s))
	return d.Seconds(), err
}

const mustBeTime = "be a time with its unit, such as 30s, 5m or 250ms"

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if d < 0 {
		return 0, errNegative
	}
	return d, err
}
