package diagnose

import (
	"slices"

	"sonde/probe/measure"
)

// entry is one rule of the table.
type entry struct {
	rule       Rule
	check      func(*history) finding
	unless     []Rule // earlier rules that explain what this one would find
	standstill bool   // when bad, nothing goes on any more: remarks on how it ran are of another time
	unwell     bool   // even as a mere remark it speaks against good health
}

// table lists all rules. Of equally strong verdicts the earlier rule's comes
// first: what is broken, then doubts about the measurement before findings that
// rest on it, then too much load, then remarks for tuning; causes before what
// follows from them.
var table = []entry{
	{rule: RuleAllFail, check: checkAllFail, standstill: true},
	{rule: RuleLoading, check: checkLoading, standstill: true},
	{rule: "client_bottleneck", check: checkClientBottleneck},
	{rule: RuleSomeFail, check: checkSomeFail, unless: []Rule{RuleAllFail}, unwell: true},
	{rule: RuleSLO, check: checkSLO},
	{rule: "engine_restarted", check: checkEngineRestarted},
	{rule: "replicas_gone", check: checkReplicasGone},
	{rule: RuleRateLimits, check: checkRateLimits},
	{rule: "overload", check: checkOverload},
	{rule: "preemptions", check: checkPreemptions},
	{rule: "kv_full", check: checkKVFull},
	{rule: "stalled", check: checkStalled, standstill: true},
	{rule: "hang", check: checkHang, standstill: true},
	{rule: "unserved", check: checkUnserved, unless: []Rule{RuleAllFail, RuleLoading, "stalled", "hang"}, standstill: true},
	{rule: "gpu_throttled", check: checkGPUThrottled},
	{rule: "gpu_idle", check: checkGPUIdle},
	{rule: "gpu_doubts", check: checkGPUDoubts, unwell: true},
	{rule: "clumps", check: checkClumps},
	{rule: "token_counts", check: checkTokenCounts},
	{rule: "path_delay", check: checkPathDelay},
	{rule: "uneven_replicas", check: checkUnevenReplicas},
	{rule: "host_bound", check: checkHostBound, unwell: true},
	{rule: "prefill_interference", check: checkInterference},
	{rule: "standstills", check: checkStandstills},
	{rule: "past_knee", check: checkPastKnee},
	{rule: "saturated", check: checkSaturated},
	{rule: "slow_start", check: checkSlowStart, unless: []Rule{"clumps", "path_delay"}}, // the way, not the engine; and behind it decoding is not seen
	{rule: "ttft_tail", check: tailOf("TTFT", (*measure.Request).TTFT)},
	{rule: "tpot_tail", check: tailOf("TPOT", (*measure.Request).TPOT)},
	{rule: "e2e_tail", check: checkE2ETail},
	{rule: "prefix_lost", check: checkPrefixLost},
	{rule: "prefix_cache", check: checkPrefixCache},
	{rule: "short_output", check: checkShortOutput},
	{rule: "long_output", check: checkLongOutput},
	{rule: "prompt_length", check: checkPromptLength},
	{rule: "shared_server", check: checkSharedServer},
	{rule: "slowed", check: checkSlowed, unwell: true},
	{rule: "slow_decode", check: checkSlowDecode, unwell: true},
	{rule: "bandwidth_bound", check: checkBandwidthBound, unwell: true},
	{rule: "answer_growth", check: checkAnswerGrowth},
	{rule: "tokens_per_chunk", check: checkTokensPerChunk},
	{rule: "slo_unclear", check: checkSLOUnclear},
}

// entryOf is the entry of a rule; empty for a state of health.
func entryOf(rule Rule) entry {
	if i := slices.IndexFunc(table, func(e entry) bool { return e.rule == rule }); i >= 0 {
		return table[i]
	}
	return entry{}
}
