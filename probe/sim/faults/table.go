package faults

import (
	"strconv"
	"strings"
	"time"
)

// Kind describes one kind of fault.
type Kind struct {
	Name        string `json:"name"`
	Form        string `json:"form"`    // how it is written
	Example     string `json:"example"` // with a value that has a clear effect
	Description string `json:"means"`

	// values returns pointers to its value and to an optional second one, written
	// behind a slash; nil if there is none.
	values func(f *Faults) (first any, second *time.Duration)
}

// Kinds lists every fault.
var Kinds = []Kind{
	{"429", "429=SHARE[/WAIT]", "429=0.3/2s", "that share of requests is refused with 429 and Retry-After",
		func(f *Faults) (any, *time.Duration) { return &f.RateLimited, &f.RetryAfter }},
	{"503", "503=SHARE", "503=0.2", "that share of requests is refused with 503",
		func(f *Faults) (any, *time.Duration) { return &f.Unavailable, nil }},
	{"error", "error=SHARE", "error=0.2", "that share of streams ends with an error inside the 200",
		func(f *Faults) (any, *time.Duration) { return &f.StreamError, nil }},
	{"cut", "cut=SHARE", "cut=0.2", "that share of streams has its connection cut",
		func(f *Faults) (any, *time.Duration) { return &f.Cut, nil }},
	{"loading", "loading[=TIME]", "loading=10s", "503 as while the model loads, for that long or until it is switched off",
		func(f *Faults) (any, *time.Duration) { return &f.Loading, &f.LoadingFor }},
	{"stall", "stall=TIME[/EVERY]", "stall=1s/10s", "the engine stops for that long, once or at intervals",
		func(f *Faults) (any, *time.Duration) { return &f.Stall, &f.StallEvery }},
	{"clump", "clump=TOKENS", "clump=16", "tokens are sent together, as behind a buffering proxy",
		func(f *Faults) (any, *time.Duration) { return &f.Clump, nil }},
	{"slow", "slow=TIMES", "slow=3", "a slow replica: every iteration takes that many times as long",
		func(f *Faults) (any, *time.Duration) { return (*factor)(&f.Slow), nil }},
	{"throttle", "throttle=SHARE", "throttle=0.4", "the GPU is hot: its clock is down to that share",
		func(f *Faults) (any, *time.Duration) { return (*factor)(&f.Throttle), nil }},
	{"kv", "kv=SHARE", "kv=0.9", "that share of the KV cache is not available",
		func(f *Faults) (any, *time.Duration) { return &f.KV, nil }},
}

// factor is a number that has no effect at 1.
type factor float64

// The words that stand for a value: off is none, on is loading without a time.
const off, on = "off", "on"

// read sets the fault from its written value.
func (k *Kind) read(f *Faults, value string) error {
	first, second := k.values(f)
	if loading, ok := first.(*bool); ok {
		return readLoading(loading, second, value)
	}
	rest := off
	if second != nil {
		if a, b, both := strings.Cut(value, "/"); both {
			value, rest = a, b
		}
		if err := readValue(second, rest); err != nil {
			return err
		}
	}
	return readValue(first, value)
}

func readLoading(loading *bool, limit *time.Duration, value string) error {
	*loading, *limit = value != off && value != "0", 0
	if value == "" || value == on || !*loading {
		return nil
	}
	err := readValue(limit, value)
	*loading = *limit > 0
	return err
}

func readValue(into any, value string) (err error) {
	none := value == off
	switch p := into.(type) {
	case *float64:
		if *p = 0; !none {
			*p, err = strconv.ParseFloat(value, 64)
		}
	case *factor:
		err = readValue((*float64)(p), value)
	case *int:
		if *p = 0; !none {
			*p, err = strconv.Atoi(value)
		}
	case *time.Duration:
		if *p = 0; !none {
			*p, err = time.ParseDuration(value)
		}
	}
	return err
}

// text is the value as it is written; "" if it has no effect.
func (k *Kind) text(f *Faults) string {
	first, second := k.values(f)
	if loading, ok := first.(*bool); ok {
		if *loading && *second == 0 {
			return on
		}
		return valueText(second)
	}
	text := valueText(first)
	if text == "" || second == nil || *second == 0 {
		return text
	}
	return text + "/" + second.String()
}

func valueText(value any) string {
	switch p := value.(type) {
	case *float64:
		if *p != 0 {
			return strconv.FormatFloat(*p, 'g', -1, 64)
		}
	case *factor:
		if *p != 1 {
			return valueText((*float64)(p))
		}
	case *int:
		if *p > 1 { // one token by itself is not a clump
			return strconv.Itoa(*p)
		}
	case *time.Duration:
		if *p != 0 {
			return p.String()
		}
	}
	return ""
}
