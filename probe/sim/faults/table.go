package faults

import (
	"cmp"
	"fmt"
	"reflect"
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
		func(f *Faults) (any, *time.Duration) { return &f.Loading, nil }},
	{"stall", "stall=TIME[/EVERY]", "stall=1s/10s", "the engine stops for that long, once or at intervals",
		func(f *Faults) (any, *time.Duration) { return &f.Stall, &f.StallEvery }},
	{"clump", "clump=TOKENS", "clump=16", "tokens are sent together, as behind a buffering proxy",
		func(f *Faults) (any, *time.Duration) { return &f.Clump, nil }},
	{"slow", "slow=TIMES", "slow=3", "a slow replica: every iteration takes that many times as long",
		func(f *Faults) (any, *time.Duration) { return &f.Slow, nil }},
	{"throttle", "throttle=SHARE", "throttle=0.4", "the GPU is hot: its clock is down to that share",
		func(f *Faults) (any, *time.Duration) { return &f.Throttle, nil }},
	{"kv", "kv=SHARE", "kv=0.9", "that share of the KV cache is not available",
		func(f *Faults) (any, *time.Duration) { return &f.KV, nil }},
	{"scatter", "scatter=REPLICAS", "scatter=3", "a router without affinity: each request finds the prefix cache of a random replica",
		func(f *Faults) (any, *time.Duration) { return &f.Scatter, nil }},
}

// The words that stand for a value: off is none, on is loading without a time.
const off, on = "off", "on"

// read sets the fault from its written value. What has no effect becomes zero.
func (k *Kind) read(f *Faults, value string) error {
	first, second := k.values(f)
	if first == &f.Loading && (value == "" || value == on) {
		f.Loading = Forever
		return nil
	}
	if second != nil {
		before, rest, _ := strings.Cut(value, "/")
		value = before
		if err := readValue(second, cmp.Or(rest, off)); err != nil {
			return err
		}
	}
	err := readValue(first, value)
	for _, factor := range []*float64{&f.Slow, &f.Throttle} {
		if *factor == 1 {
			*factor = 0
		}
	}
	for _, n := range []*int{&f.Clump, &f.Scatter} {
		if *n == 1 { // one token by itself, one replica
			*n = 0
		}
	}
	return err
}

func readValue(into any, value string) (err error) {
	if value == off {
		value = "0"
	}
	switch p := into.(type) {
	case *float64:
		*p, err = strconv.ParseFloat(value, 64)
	case *int:
		*p, err = strconv.Atoi(value)
	case *time.Duration:
		*p, err = time.ParseDuration(value)
	}
	return err
}

// text is the value as it is written; "" if it has no effect.
func (k *Kind) text(f *Faults) string {
	if k.Name == "loading" && f.Loading == Forever {
		return on
	}
	pointer, second := k.values(f)
	first := reflect.ValueOf(pointer).Elem()
	if first.IsZero() {
		return ""
	}
	text := fmt.Sprint(first.Interface())
	if second != nil && *second != 0 {
		text += "/" + second.String()
	}
	return text
}
