package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Faults are what goes wrong on request. The zero value is a healthy server.
// Shares are of requests, 0 to 1, drawn with the engine's seed.
type Faults struct {
	RateLimited float64       // answered 429 …
	RetryAfter  time.Duration // … with this Retry-After, whole seconds; 0 stands for one second
	Unavailable float64       // answered 503
	StreamError float64       // streams that end with an error after a few tokens, inside a 200
	Cut         float64       // streams whose connection is cut after a few tokens

	Loading    bool          // everything is answered 503, as while a model loads …
	LoadingFor time.Duration // … for so long; 0 is until it is switched off

	Stall      time.Duration // the engine stands still for so long …
	StallEvery time.Duration // … each time this has passed since the last stall; 0: once
	Clump      int           // tokens that leave together, as behind a buffering proxy; 0 and 1: each by itself
	Slow       float64       // every iteration takes so many times as long; 0 and 1: it does not
	Throttle   float64       // the SM clock as a share of the full one; 0 and 1: the full one
	KV         float64       // share of KV blocks that somebody else keeps
}

// FaultKind describes one kind of fault.
type FaultKind struct {
	Name    string `json:"name"`
	Form    string `json:"form"`    // how it is written
	Example string `json:"example"` // a value that is clearly felt
	Means   string `json:"means"`
}

// faultKind is a row of the table of faults.
type faultKind struct {
	FaultKind
	set  func(f *Faults, value string) error
	text func(f *Faults) string // the value; "" if there is no such fault
}

// faultKinds is every fault that there is.
var faultKinds = []faultKind{
	{FaultKind{"429", "429=SHARE[/WAIT]", "429=0.3/2s", "that share of requests is refused with 429 and Retry-After"},
		func(f *Faults, v string) error {
			return readPair(v, readNumber(&f.RateLimited), readTime(&f.RetryAfter))
		},
		func(f *Faults) string { return pairText(shareText(f.RateLimited), f.RetryAfter) }},
	{FaultKind{"503", "503=SHARE", "503=0.2", "that share of requests is refused with 503"},
		func(f *Faults, v string) error { return readNumber(&f.Unavailable)(v) },
		func(f *Faults) string { return shareText(f.Unavailable) }},
	{FaultKind{"error", "error=SHARE", "error=0.2", "that share of streams ends with an error inside the 200"},
		func(f *Faults, v string) error { return readNumber(&f.StreamError)(v) },
		func(f *Faults) string { return shareText(f.StreamError) }},
	{FaultKind{"cut", "cut=SHARE", "cut=0.2", "that share of streams has its connection cut"},
		func(f *Faults, v string) error { return readNumber(&f.Cut)(v) },
		func(f *Faults) string { return shareText(f.Cut) }},
	{FaultKind{"loading", "loading[=TIME]", "loading=10s", "503 as while the model loads, for that long or until it is switched off"},
		func(f *Faults, v string) error { return readLoading(f, v) },
		loadingText},
	{FaultKind{"stall", "stall=TIME[/EVERY]", "stall=1s/10s", "the engine stands still for that long, once or again and again"},
		func(f *Faults, v string) error { return readPair(v, readTime(&f.Stall), readTime(&f.StallEvery)) },
		func(f *Faults) string { return pairText(timeText(f.Stall), f.StallEvery) }},
	{FaultKind{"clump", "clump=TOKENS", "clump=16", "tokens leave together, as behind a buffering proxy"},
		func(f *Faults, v string) error { return readCount(&f.Clump)(v) },
		clumpText},
	{FaultKind{"slow", "slow=TIMES", "slow=3", "a slow replica: every iteration takes that many times as long"},
		func(f *Faults, v string) error { return readNumber(&f.Slow)(v) },
		func(f *Faults) string { return factorText(f.Slow) }},
	{FaultKind{"throttle", "throttle=SHARE", "throttle=0.4", "the GPU is hot: its clock is down to that share"},
		func(f *Faults, v string) error { return readNumber(&f.Throttle)(v) },
		func(f *Faults) string { return factorText(f.Throttle) }},
	{FaultKind{"kv", "kv=SHARE", "kv=0.9", "somebody else keeps that share of the KV cache"},
		func(f *Faults, v string) error { return readNumber(&f.KV)(v) },
		func(f *Faults) string { return shareText(f.KV) }},
}

// FaultKinds lists every fault that there is.
func FaultKinds() []FaultKind {
	all := make([]FaultKind, len(faultKinds))
	for i, k := range faultKinds {
		all[i] = k.FaultKind
	}
	return all
}

// ParseFaults reads a list such as "429=0.1/2s,cut=0.02,stall=1s/10s,clump=8".
func ParseFaults(list string) (Faults, error) { return Faults{}.With(list) }

// With is f with the faults of a list replaced; "NAME=off" heals one.
func (f Faults) With(list string) (Faults, error) {
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if err := f.set(part); err != nil {
			return Faults{}, fmt.Errorf("simulated engine: fault %q: %w", part, err)
		}
	}
	return f, f.check()
}

func (f *Faults) set(part string) error {
	name, value, _ := strings.Cut(part, "=")
	var forms []string
	for _, k := range faultKinds {
		if k.Name == strings.TrimSpace(name) {
			if k.set(f, strings.TrimSpace(value)) != nil {
				return fmt.Errorf("has to be written as %s, such as %s, or %s=off", k.Form, k.Example, k.Name)
			}
			return nil
		}
		forms = append(forms, k.Form)
	}
	return fmt.Errorf("there is no such fault; there are %s", strings.Join(forms, ", "))
}

// over is f with the faults of another list in the place of its own kinds.
func (f Faults) over(base Faults) Faults {
	both, err := base.With(f.String())
	if err != nil { // shares of both that add up to more than all requests
		return f
	}
	return both
}

// String is the list that ParseFaults reads as these faults, "" for a healthy
// server.
func (f Faults) String() string {
	var list []string
	for _, k := range faultKinds {
		switch v := k.text(&f); v {
		case "":
		case "on":
			list = append(list, k.Name)
		default:
			list = append(list, k.Name+"="+v)
		}
	}
	return strings.Join(list, ",")
}

func (f *Faults) check() error {
	sum := 0.0
	for _, share := range []float64{f.RateLimited, f.Unavailable, f.StreamError, f.Cut, f.KV} {
		if !(share >= 0 && share <= 1) { // also NaN
			return fmt.Errorf("simulated engine: a share of faults is between 0 and 1, not %g", share)
		}
		sum += share
	}
	const longest = 24 * time.Hour
	switch {
	case sum-f.KV > 1:
		return fmt.Errorf("simulated engine: the shares of faults add up to %g, which is more than all requests", sum-f.KV)
	case f.Clump < 0 || f.Clump > 1_000_000:
		return fmt.Errorf("simulated engine: a clump is of 0 to 1000000 tokens, not %d", f.Clump)
	case !(f.Slow == 0 || f.Slow >= 1 && f.Slow <= 1000):
		return fmt.Errorf("simulated engine: a slow replica takes 1 to 1000 times as long, not %g", f.Slow)
	case !(f.Throttle >= 0 && f.Throttle <= 1) || f.Throttle > 0 && f.Throttle < 0.01:
		return fmt.Errorf("simulated engine: a throttled clock is a share between 0.01 and 1, not %g", f.Throttle)
	}
	for _, d := range []time.Duration{f.RetryAfter, f.LoadingFor, f.Stall, f.StallEvery} {
		if d < 0 || d > longest {
			return fmt.Errorf("simulated engine: times of faults are between 0 and %v, not %v", longest, d)
		}
	}
	return nil
}

// conditions of the engine that the faults ask for. A stall that happens once is
// not one of them.
func (f *Faults) conditions() conditions {
	c := conditions{slow: f.Slow, clock: f.Throttle, kvWithheld: f.KV}
	if f.StallEvery > 0 {
		c.stall, c.stallEvery = f.Stall, f.StallEvery
	}
	return c
}

func clumpText(f *Faults) string {
	if f.Clump <= 1 {
		return ""
	}
	return strconv.Itoa(f.Clump)
}

func loadingText(f *Faults) string {
	if f.Loading && f.LoadingFor == 0 {
		return "on"
	}
	return timeText(f.LoadingFor)
}
