package sim

import (
	"strconv"
	"strings"
	"time"
)

// The values of faults as they are written. "off" is none.

const off = "off"

func readNumber(into *float64) func(string) error {
	return func(v string) (err error) {
		if *into = 0; v != off {
			*into, err = strconv.ParseFloat(v, 64)
		}
		return err
	}
}

func readCount(into *int) func(string) error {
	return func(v string) (err error) {
		if *into = 0; v != off {
			*into, err = strconv.Atoi(v)
		}
		return err
	}
}

func readTime(into *time.Duration) func(string) error {
	return func(v string) (err error) {
		if *into = 0; v != off {
			*into, err = time.ParseDuration(v)
		}
		return err
	}
}

// readPair reads FIRST or FIRST/SECOND.
func readPair(v string, first, second func(string) error) error {
	a, b, both := strings.Cut(v, "/")
	if !both {
		b = off
	}
	if err := first(a); err != nil {
		return err
	}
	return second(b)
}

func readLoading(f *Faults, v string) error {
	f.Loading, f.LoadingFor = v != off && v != "0", 0
	if v == "" || v == "on" || !f.Loading {
		return nil
	}
	err := readTime(&f.LoadingFor)(v)
	f.Loading = f.LoadingFor > 0
	return err
}

func shareText(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// factorText is "" for 1 too.
func factorText(v float64) string {
	if v == 1 {
		return ""
	}
	return shareText(v)
}

func timeText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func pairText(first string, second time.Duration) string {
	if first == "" || second == 0 {
		return first
	}
	return first + "/" + second.String()
}
