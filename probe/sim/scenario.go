package sim

import (
	"fmt"
	"strings"
	"time"
)

// Scenario is an incident that the engine can play.
type Scenario struct {
	Name string `json:"name"`
	Says string `json:"says"` // in one sentence
}

// scene is a row of the table of scenarios. It begins and ends in peace; in between
// there are faults, or other clients, or both. Then it begins again.
type scene struct {
	Scenario
	trouble string // a list of faults
	crowd   func(*setup) crowd
}

// The timetable of every scenario: long enough for a baseline, for a diagnosis from
// the last half minute, and for the recovery.
const (
	calmBefore = 20 * time.Second
	troubled   = 60 * time.Second
	calmAfter  = 40 * time.Second
)

var scenes = []scene{
	{Scenario{"overload", "More requests come in than the engine can serve: its queue grows, and TTFT with it."},
		"", overloadCrowd},
	{Scenario{"long-prompts", "Another client sends one very long prompt after the other: each stretches the gaps of all streams while it is prefilled."},
		"", longPromptCrowd},
	{Scenario{"kv-exhaustion", "Long answers outgrow the KV cache: the engine preempts requests and computes them again."},
		"", growingCrowd},
	{Scenario{"buffering-proxy", "A proxy on the way holds tokens back and lets sixteen go at once: the engine is well, the screen of its user stutters."},
		"clump=16", nil},
	{Scenario{"noisy-neighbour", "Another tenant starts a batch job: its requests share the batch, and your streams get slow although your load is the same."},
		"", tenantCrowd},
	{Scenario{"slow-replica", "The host is starved of CPU: every iteration takes three times as long, and the GPU idles in between."},
		"slow=3", nil},
	{Scenario{"throttling", "The GPU gets too hot and lowers its clock to 40 %: prefill takes two and a half times as long, decode half as long again."},
		"throttle=0.4", nil},
	{Scenario{"rate-limits", "A gateway refuses four of ten requests with 429 and asks to wait for two seconds."},
		"429=0.4/2s", nil},
	{Scenario{"model-loading", "The replica answers 503 for a minute, as while a model loads."},
		"loading", nil},
}

// Scenarios lists the incidents that the engine can play.
func Scenarios() []Scenario {
	all := make([]Scenario, len(scenes))
	for i, s := range scenes {
		all[i] = s.Scenario
	}
	return all
}

// DescribeScenarios has a line for each scenario.
func DescribeScenarios() string {
	var b strings.Builder
	for _, s := range scenes {
		fmt.Fprintf(&b, "  %-16s %s\n", s.Name, s.Says)
	}
	return b.String()
}

func sceneNamed(name string) (*scene, error) {
	var known []string
	for i := range scenes {
		if strings.EqualFold(scenes[i].Name, name) {
			return &scenes[i], nil
		}
		known = append(known, scenes[i].Name)
	}
	return nil, fmt.Errorf("simulated engine: no scenario is called %q; there are %s", name, strings.Join(known, ", "))
}

// act is a part of a scene.
type act int

const (
	before act = iota
	incident
	after
)

var actNames = [...]string{before: "calm before", incident: "incident", after: "recovery"}

// actAt is what is played at a time since the beginning, and when it ends. A scene
// is played again and again.
func actAt(since time.Duration) (a act, ends time.Duration) {
	const cycle = calmBefore + troubled + calmAfter
	began := since - since%cycle
	switch into := since % cycle; {
	case into < calmBefore:
		return before, began + calmBefore
	case into < calmBefore+troubled:
		return incident, began + calmBefore + troubled
	}
	return after, began + cycle
}
