package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Scenario is an incident that the engine can play: faults, or other clients, or both.
type Scenario struct {
	Name        string `json:"name"`
	Description string `json:"says"` // one sentence

	faults string // a list
	crowd  func(Engine) *crowd
}

// Every scenario starts with a calm, long enough for a baseline; the incident is long
// enough for a diagnosis from its last half minute, the recovery for its after-effects.
// Then it starts again.
const (
	calm       = 20 * time.Second
	troubled   = 60 * time.Second
	recovering = 40 * time.Second
)

// Scenarios lists the incidents that the engine can play.
var Scenarios = []Scenario{
	{"overload", "More requests arrive than the engine can serve: its queue grows, and TTFT with it.", "", overload},
	{"long-prompts", "Another client sends one very long prompt after another: each prefill stretches the gaps of all streams.", "", longPrompts},
	{"kv-exhaustion", "Long answers outgrow the KV cache: the engine preempts requests and computes them again.", "", growingAnswers},
	{"buffering-proxy", "A proxy holds tokens back and releases sixteen at a time: the engine is healthy, but output on screen stutters.", "clump=16", nil},
	{"noisy-neighbour", "Another tenant starts a batch job: its requests share the batch, and your streams slow down although your load is the same.", "", tenant},
	{"slow-replica", "The host is starved of CPU: every iteration takes three times as long, and the GPU idles in between.", "slow=3", nil},
	{"throttling", "The GPU overheats and lowers its clock to 40 %: prefill takes 2.5 times as long, decode 1.5 times.", "throttle=0.4", nil},
	{"rate-limits", "A gateway refuses four of ten requests with 429 and asks clients to wait two seconds.", "429=0.4/2s", nil},
	{"model-loading", "The replica answers 503 for a minute, as while a model loads.", "loading", nil},
}

// DescribeScenarios has a line for each scenario.
func DescribeScenarios() string {
	var b strings.Builder
	for _, s := range Scenarios {
		fmt.Fprintf(&b, "  %-16s %s\n", s.Name, s.Description)
	}
	return b.String()
}

// FindScenario finds a scenario by name, in any letter case.
func FindScenario(name string) (*Scenario, error) {
	var known []string
	for i := range Scenarios {
		if strings.EqualFold(Scenarios[i].Name, name) {
			return &Scenarios[i], nil
		}
		known = append(known, Scenarios[i].Name)
	}
	return nil, fmt.Errorf("simulated engine: unknown scenario %q; known scenarios: %s", name, strings.Join(known, ", "))
}

// scene is a scenario that plays.
type scene struct {
	name     string
	incident entry
}

// stage makes the incident of a scenario that starts now.
func (t *Timetable) stage(s *Scenario, now time.Duration) *scene {
	change, err := Parse(s.faults)
	if err != nil {
		panic(err) // a row of our own table; a test reads them all
	}
	incident := entry{from: now + calm, until: now + calm + troubled, every: calm + troubled + recovering, change: change}
	if s.crowd != nil {
		others := s.crowd(t.engine)
		others.engine, others.news = t.engine, t.rouse
		others.random = rand.New(rand.NewPCG(t.engine.Room().Seed, 0x5ce7e)) // the same requests each time
		incident.crowd = others
	}
	return &scene{s.Name, incident}
}

// Play starts a scenario from its beginning, in place of one that plays. It goes on
// until Play is called again; "" ends it.
func (t *Timetable) Play(name string) error {
	var next *Scenario
	if name != "" {
		var err error
		if next, err = FindScenario(name); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.engine.Now()
	if t.scenario != nil {
		t.scenario.incident.crowd.leave()
		t.scenario = nil
	}
	if next != nil {
		t.scenario = t.stage(next, now)
	}
	t.advance(now)
	t.rouse()
	return nil
}

// Playing returns the scenario that plays, "" if none does, the part that it is in, and
// the time until the next one.
func (t *Timetable) Playing() (name, part string, left time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.scenario == nil {
		return "", "", 0
	}
	now := t.engine.Now()
	t.advance(now)
	incident := &t.scenario.incident // the present one, or the next
	switch until := incident.from - now; {
	case until <= 0:
		return t.scenario.name, "incident", incident.until - now
	case until <= calm:
		return t.scenario.name, "calm before", until
	default:
		return t.scenario.name, "recovery", until - calm
	}
}
