// Package faults is everything that can go wrong with the embedded engine on request:
// the table of faults and how they are written, scenarios, and the timetable that
// applies both to a running engine. It knows the engine only as an interface.
package faults

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Faults are what goes wrong. The zero value is a healthy server. Shares are of
// requests, 0 to 1, drawn with the engine's seed.
type Faults struct {
	RateLimited float64       // answered 429 …
	RetryAfter  time.Duration // … with this Retry-After, whole seconds; 0 stands for one second
	Unavailable float64       // answered 503
	StreamError float64       // streams that end with an error after a few tokens, inside a 200
	Cut         float64       // streams whose connection is cut after a few tokens

	Loading time.Duration // every request is answered 503 for this long, as while a model loads; or Forever

	Stall      time.Duration // the engine stops for this long …
	StallEvery time.Duration // … each time this has passed since the last stall ended; 0: once, at once
	Clump      int           // tokens that are sent together, as behind a buffering proxy; 0: each by itself
	Slow       float64       // every iteration takes this many times as long, on the host: the GPU idles; 0: normal
	Throttle   float64       // SM clock as a share of the full clock; 0: full
	KV         float64       // share of KV blocks that are not available
	Scatter    int           // prefix caches, as of replicas: each request looks into a random one; 0: one for all
}

// Forever is until the fault is switched off.
const Forever = time.Duration(math.MaxInt64)

// Parse reads a list such as "429=0.1/2s,cut=0.02,stall=1s/10s,clump=8".
func Parse(list string) (Faults, error) { return Faults{}.With(list) }

// With returns f with the faults of a list replaced; "NAME=off" removes one.
func (f Faults) With(list string) (Faults, error) {
	for part := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if name == "" && value == "" {
			continue
		}
		k, err := kindNamed(strings.TrimSpace(name))
		if err == nil && k.read(&f, strings.TrimSpace(value)) != nil {
			err = fmt.Errorf("expected %s, such as %s, or %s=off", k.Form, k.Example, k.Name)
		}
		if err != nil {
			return Faults{}, fmt.Errorf("simulated engine: fault %q: %w", strings.TrimSpace(part), err)
		}
	}
	return f, f.Check()
}

func kindNamed(name string) (*Kind, error) {
	var forms []string
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i], nil
		}
		forms = append(forms, Kinds[i].Form)
	}
	return nil, fmt.Errorf("unknown fault; known faults: %s", strings.Join(forms, ", "))
}

// over returns f on top of base: the kinds of faults in f replace those of base.
func (f Faults) over(base Faults) Faults {
	both, err := base.With(f.String())
	if err != nil { // the shares of both exceed 1
		return f
	}
	return both
}

// String returns the list that Parse reads as these faults, "" for a healthy server.
func (f Faults) String() string {
	var list []string
	for _, a := range f.Active() {
		if a.Value == on {
			list = append(list, a.Name)
		} else {
			list = append(list, a.Name+"="+a.Value)
		}
	}
	return strings.Join(list, ",")
}

// Active is a fault in force.
type Active struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	Description string `json:"means"`
}

// Active lists the faults in force, in the order of the table.
func (f Faults) Active() []Active {
	active := []Active{}
	for i := range Kinds {
		k := &Kinds[i]
		if v := k.text(&f); v != "" {
			active = append(active, Active{k.Name, v, k.Description})
		}
	}
	return active
}

// Check returns an error if a value is out of range.
func (f *Faults) Check() error {
	sum := 0.0
	for _, share := range []float64{f.RateLimited, f.Unavailable, f.StreamError, f.Cut, f.KV} {
		if !(share >= 0 && share <= 1) { // also NaN
			return fmt.Errorf("simulated engine: the share of a fault must be between 0 and 1, not %g", share)
		}
		sum += share
	}
	const longest = 24 * time.Hour
	switch {
	case sum-f.KV > 1:
		return fmt.Errorf("simulated engine: the shares of faults add up to %g, more than all requests", sum-f.KV)
	case f.Clump < 0 || f.Clump > 1_000_000:
		return fmt.Errorf("simulated engine: a clump must be 0 to 1000000 tokens, not %d", f.Clump)
	case f.Scatter < 0 || f.Scatter > 1000:
		return fmt.Errorf("simulated engine: requests scatter over 2 to 1000 replicas, not %d", f.Scatter)
	case !(f.Slow == 0 || f.Slow >= 1 && f.Slow <= 1000):
		return fmt.Errorf("simulated engine: a slow replica has to take 1 to 1000 times as long, not %g", f.Slow)
	case !(f.Throttle >= 0 && f.Throttle <= 1) || f.Throttle > 0 && f.Throttle < 0.01:
		return fmt.Errorf("simulated engine: a throttled clock must be a share between 0.01 and 1, not %g", f.Throttle)
	}
	for _, d := range []time.Duration{f.RetryAfter, f.Loading, f.Stall, f.StallEvery} {
		if d < 0 || d > longest && d != Forever {
			return fmt.Errorf("simulated engine: the duration of a fault must be between 0 and %v, not %v", longest, d)
		}
	}
	return nil
}
