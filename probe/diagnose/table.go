package diagnose

import (
	"slices"

	"sonde/probe/measure"
)

// entry is one rule of the table.
type entry struct {
	rule       Rule
	title      string // of the incident when it is over; "" if the rule is about the measurement or the past, and finds none
	check      func(*history) finding
	unless     []Rule // earlier rules that explain what this one would find
	standstill bool   // when bad, nothing goes on any more: remarks on how it ran are of another time
	unwell     bool   // even as a mere remark it speaks against good health
	lasting    bool   // it rests on requests of the past, or on what goes on for good, not on what happens now
	trouble    bool   // even as a mere remark it is an incident
}

// table lists all rules. Of equally strong verdicts the earlier rule's comes
// first: what is broken, then doubts about the measurement before findings that
// rest on it, then too much load, then remarks for tuning; causes before what
// follows from them.
var table = []entry{
	{rule: RuleAllFail, title: "every request failed", check: checkAllFail, standstill: true},
	{rule: RuleLoading, title: "the model was loading", check: checkLoading, standstill: true},
	{rule: "client_bottleneck", title: "this client was the bottleneck", check: checkClientBottleneck},
	{rule: RuleSomeFail, title: "requests failed", check: checkSomeFail, unless: []Rule{RuleAllFail}, unwell: true},
	{rule: RuleSLO, title: "SLO missed", check: checkSLO, lasting: true},
	{rule: "engine_restarted", title: "engine restarted", check: checkEngineRestarted, lasting: true},
	{rule: "replicas_gone", title: "replicas gone", check: checkReplicasGone},
	{rule: RuleRateLimits, title: "rate limit", check: checkRateLimits},
	{rule: "overload", title: "overload", check: checkOverload},
	{rule: "preemptions", title: "KV cache too small", check: checkPreemptions},
	{rule: "kv_full", title: "KV cache full", check: checkKVFull},
	{rule: "stalled", title: "streams stalled", check: checkStalled, standstill: true},
	{rule: "hang", title: "no first token", check: checkHang, standstill: true},
	{rule: "unserved", title: "nothing served", check: checkUnserved, unless: []Rule{RuleAllFail, RuleLoading, "stalled", "hang"}, standstill: true},
	{rule: "gpu_throttled", title: "GPU throttled", check: checkGPUThrottled},
	{rule: "gpu_idle", title: "GPU idle although requests waited", check: checkGPUIdle},
	{rule: "gpu_doubts", check: checkGPUDoubts, unwell: true},
	{rule: "clumps", title: "tokens in clumps", check: checkClumps},
	{rule: "token_counts", check: checkTokenCounts},
	{rule: "path_delay", title: "slow network or gateway", check: checkPathDelay, lasting: true},
	{rule: "uneven_replicas", title: "uneven replicas", check: checkUnevenReplicas, lasting: true},
	{rule: "host_bound", title: "GPU waited for its host", check: checkHostBound, unwell: true, trouble: true},
	{rule: "prefill_interference", title: "long prompts held up decode", check: checkInterference},
	{rule: "standstills", title: "standstills", check: checkStandstills},
	{rule: "past_knee", check: checkPastKnee},
	{rule: "saturated", title: "saturated", check: checkSaturated, lasting: true},
	{rule: "slow_start", title: "slow first token", check: checkSlowStart, unless: []Rule{"clumps", "path_delay"}, lasting: true}, // the way, not the engine; and behind it decoding is not seen
	{rule: "ttft_tail", title: "long TTFT tail", check: tailOf("TTFT", (*measure.Request).TTFT), lasting: true},
	{rule: "tpot_tail", title: "long TPOT tail", check: tailOf("TPOT", (*measure.Request).TPOT), lasting: true},
	{rule: "e2e_tail", check: checkE2ETail},
	{rule: "prefix_lost", check: checkPrefixLost},
	{rule: "prefix_cache", check: checkPrefixCache},
	{rule: "short_output", check: checkShortOutput},
	{rule: "long_output", check: checkLongOutput},
	{rule: "prompt_length", check: checkPromptLength},
	{rule: "shared_server", check: checkSharedServer},
	{rule: "slowed", title: "slower than before", check: checkSlowed, unwell: true, trouble: true, lasting: true},
	{rule: "slow_decode", title: "slow decode", check: checkSlowDecode, unwell: true, trouble: true, lasting: true},
	{rule: "bandwidth_bound", check: checkBandwidthBound, unwell: true},
	{rule: "answer_growth", check: checkAnswerGrowth},
	{rule: "tokens_per_chunk", check: checkTokensPerChunk},
	{rule: "slo_unclear", check: checkSLOUnclear},
}

// place is where a rule stands in the table.
func place(rule Rule) int {
	return slices.IndexFunc(table, func(e entry) bool { return e.rule == rule })
}

// entryOf is the entry of a rule; empty for a state of health.
func entryOf(rule Rule) entry {
	if i := slices.IndexFunc(table, func(e entry) bool { return e.rule == rule }); i >= 0 {
		return table[i]
	}
	return entry{}
}
