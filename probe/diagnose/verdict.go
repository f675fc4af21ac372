// Package diagnose turns Frames into verdicts: what is wrong, with the
// evidence, and what to do about it.
//
// A wrong verdict is worse than none. A rule whose inputs are unknown does not
// apply, and every rule names the figures it rests on.
package diagnose

// Severity is how much a verdict matters.
type Severity int

// Severities, weakest first.
const (
	Unknown Severity = iota // nothing can be said yet
	Healthy
	Info // worth knowing, not a fault
	Warn
	Bad
)

// String is the severity in a word.
func (s Severity) String() string {
	return [...]string{"unknown", "healthy", "info", "warn", "bad"}[s]
}

// Verdict is one finding.
type Verdict struct {
	Rule     Rule
	Severity Severity
	Text     string   // one sentence with its figures
	Evidence []string // what it rests on
	Advice   string   // what to do; "" if nothing

	aside bool // worth knowing beside good health: it comes after it
}

// rank sorts verdicts: by severity, with those that go with good health last.
func (v Verdict) rank() int {
	if v.aside {
		return int(Healthy)
	}
	return int(v.Severity)
}

// Rule names a finding. The names are in the JSON, so they do not change.
type Rule string

// Findings that something is, or may be, wrong. The table of rules has them in order
// of precedence.
const (
	RuleAllFail             Rule = "all_fail"
	RuleLoading             Rule = "loading"
	RuleClientBottleneck    Rule = "client_bottleneck"
	RuleSomeFail            Rule = "some_fail"
	RuleSLO                 Rule = "slo"
	RuleEngineRestarted     Rule = "engine_restarted"
	RuleReplicasGone        Rule = "replicas_gone"
	RuleRateLimits          Rule = "rate_limits"
	RuleOverload            Rule = "overload"
	RulePreemptions         Rule = "preemptions"
	RuleKVFull              Rule = "kv_full"
	RuleStalled             Rule = "stalled"
	RuleHang                Rule = "hang"
	RuleGPUThrottled        Rule = "gpu_throttled"
	RuleGPUIdle             Rule = "gpu_idle"
	RuleGPUDoubts           Rule = "gpu_doubts"
	RuleClumps              Rule = "clumps"
	RuleTokenCounts         Rule = "token_counts"
	RulePathDelay           Rule = "path_delay"
	RuleUnevenReplicas      Rule = "uneven_replicas"
	RuleHostBound           Rule = "host_bound"
	RulePrefillInterference Rule = "prefill_interference"
	RuleStandstills         Rule = "standstills"
	RulePastKnee            Rule = "past_knee"
	RuleSaturated           Rule = "saturated"
	RuleSlowStart           Rule = "slow_start"
	RuleTTFTTail            Rule = "ttft_tail"
	RuleTPOTTail            Rule = "tpot_tail"
	RuleE2ETail             Rule = "e2e_tail"
	RulePrefixCache         Rule = "prefix_cache"
	RuleShortOutput         Rule = "short_output"
	RuleLongOutput          Rule = "long_output"
	RulePromptLength        Rule = "prompt_length"
	RuleSharedServer        Rule = "shared_server"
	RuleSlowed              Rule = "slowed"
	RuleSlowDecode          Rule = "slow_decode"
	RuleBandwidthBound      Rule = "bandwidth_bound"
	RuleAnswerGrowth        Rule = "answer_growth"
	RuleTokensPerChunk      Rule = "tokens_per_chunk"
	RuleSLOUnclear          Rule = "slo_unclear"
)

// States of health: what is reported where no finding speaks against it.
const (
	RuleNoData        Rule = "no_data"
	RuleHealthy       Rule = "healthy"
	RuleQuiet         Rule = "quiet"
	RuleDraining      Rule = "draining"
	RuleNotEnoughData Rule = "not_enough_data"
	RuleNoLoad        Rule = "no_load"
	RuleBeforeLoad    Rule = "before_load"
)
