package diagnose

import "sonde/probe/measure"

// outcome is what a rule finds.
type outcome int

const (
	unclear outcome = iota // inputs unknown, or not enough data yet
	absent
	holds
)

// rule is one thing that can be found. check keeps the figures that verdict
// then puts into words; verdict is only asked for when the rule holds.
type rule interface {
	check(h *history) outcome
	verdict() Verdict
}

// table lists all rules. Of equally strong verdicts the earlier rule's comes
// first: what is broken, then doubts about the measurement before findings that
// rest on it, then too much load, then remarks for tuning; causes before what
// follows from them.
var table = []struct {
	name string // stable: the JSON names it
	new  func() rule
}{
	{"all_fail", func() rule { return &allFail{} }},
	{"loading", func() rule { return &loading{} }},
	{"client_bottleneck", func() rule { return &clientBottleneck{} }},
	{"some_fail", func() rule { return &someFail{} }},
	{"slo", func() rule { return &sloMissed{} }},
	{"engine_restarted", func() rule { return &engineRestarted{} }},
	{"rate_limits", func() rule { return &rateLimits{} }},
	{"overload", func() rule { return &overload{} }},
	{"preemptions", func() rule { return &preemptions{} }},
	{"kv_room", func() rule { return &kvRoom{} }},
	{"kv_full", func() rule { return &kvFull{} }},
	{"stalled", func() rule { return &stalled{} }},
	{"hang", func() rule { return &hang{} }},
	{"gpu_throttled", func() rule { return &gpuThrottled{} }},
	{"gpu_idle", func() rule { return &gpuIdle{} }},
	{"clumps", func() rule { return &clumps{} }},
	{"path_delay", func() rule { return &pathDelay{} }},
	{"uneven_replicas", func() rule { return &unevenReplicas{} }},
	{"host_bound", func() rule { return &hostBound{} }},
	{"prefill_interference", func() rule { return &interference{} }},
	{"standstills", func() rule { return &standstills{} }},
	{"past_knee", func() rule { return &pastKnee{} }},
	{"saturated", func() rule { return &saturated{} }},
	{"slow_start", func() rule { return &slowStart{} }},
	{"ttft_tail", func() rule { return &tail{what: "TTFT", figure: (*measure.Request).TTFT} }},
	{"tpot_tail", func() rule { return &tail{what: "TPOT", figure: (*measure.Request).TPOT} }},
	{tailRule, func() rule { return &outlier{} }},
	{"few_fail", func() rule { return &fewFail{} }},
	{"prefix_cache", func() rule { return &prefixCache{} }},
	{"short_output", func() rule { return &shortOutput{} }},
	{"prompt_length", func() rule { return &promptLength{} }},
	{"shared_server", func() rule { return &sharedServer{} }},
	{"slowed", func() rule { return &slowed{} }},
	{"bandwidth_bound", func() rule { return &bandwidthBound{} }},
	{"slow_decode", func() rule { return &slowDecode{} }},
	{"answer_growth", func() rule { return &answerGrowth{} }},
	{"tokens_per_chunk", func() rule { return &manyTokensPerChunk{} }},
	{"slo_unclear", func() rule { return &sloUnclear{} }},
}

// found turns a condition into an outcome.
func found(yes bool) outcome {
	if yes {
		return holds
	}
	return absent
}
