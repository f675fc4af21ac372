package diagnose_test

import (
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/sim"
)

// playedScenarios are the incidents that "sonde sim --scenario" plays, seen by a
// light probe: twenty seconds are calm, then a minute is not.
func playedScenarios() []scenario {
	want := map[string]scenario{
		"overload": {strongest: "overload", also: []diagnose.Rule{"shared_server"},
			may: []diagnose.Rule{"kv_room", "kv_full", "preemptions", "slow_start", "prefill_interference", "e2e_tail", "stalled", "hang"}},
		"long-prompts": {strongest: "prefill_interference", says: []string{"long prompts of others"}},
		"kv-exhaustion": {strongest: "preemptions", also: []diagnose.Rule{"e2e_tail"},
			may: []diagnose.Rule{"kv_room", "kv_full", "stalled", "hang", "shared_server", "prefill_interference", "slow_decode"}},
		"buffering-proxy": {strongest: "clumps", may: []diagnose.Rule{"path_delay"}},
		"noisy-neighbour": {strongest: "shared_server", may: []diagnose.Rule{"healthy", "prefill_interference"}},
		"slow-replica":    {strongest: "host_bound"},
		"throttling":      {strongest: "gpu_throttled", says: []string{"to 564 of 1410 MHz", "°C"}},
		"rate-limits":     {strongest: "rate_limits"},
		"model-loading":   {strongest: "loading", says: []string{"again"}},
	}
	var all []scenario
	for _, played := range sim.Scenarios() {
		s := want[played.Name] // without a verdict for a new one: it fails
		s.name, s.engine, s.ask, s.lasts = "played: "+played.Name, sim.Options{Scenario: played.Name}, closed(4, 256, 128), 55*time.Second
		s.may = append(s.may, "bandwidth_bound", "slowed")
		all = append(all, s)
	}
	return all
}
