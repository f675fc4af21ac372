package diagnose

import "sonde/probe/measure"

// outcome is what a rule finds.
type outcome int

const (
	unclear outcome = iota // inputs unknown, or not enough data yet
	absent
	holds
)

// check judges one rule. Its verdict counts only if the rule holds.
type check func(h *history) (outcome, Verdict)

// entry is one rule of the table.
type entry struct {
	rule       Rule
	check      check
	standstill bool // when bad, nothing goes on any more: remarks on how it ran are of another time
	unwell     bool // even as a mere remark it speaks against good health
}

// table lists all rules. Of equally strong verdicts the earlier rule's comes
// first: what is broken, then doubts about the measurement before findings that
// rest on it, then too much load, then remarks for tuning; causes before what
// follows from them.
var table = []entry{
	{rule: RuleAllFail, check: checkAllFail, standstill: true},
	{rule: RuleLoading, check: checkLoading},
	{rule: RuleClientBottleneck, check: checkClientBottleneck},
	{rule: RuleSomeFail, check: checkSomeFail, unwell: true},
	{rule: RuleSLO, check: checkSLO},
	{rule: RuleEngineRestarted, check: checkEngineRestarted},
	{rule: RuleReplicasGone, check: checkReplicasGone},
	{rule: RuleRateLimits, check: checkRateLimits},
	{rule: RuleOverload, check: checkOverload},
	{rule: RulePreemptions, check: checkPreemptions},
	{rule: RuleKVFull, check: checkKVFull},
	{rule: RuleStalled, check: checkStalled, standstill: true},
	{rule: RuleHang, check: checkHang, standstill: true},
	{rule: RuleGPUThrottled, check: checkGPUThrottled},
	{rule: RuleGPUIdle, check: checkGPUIdle},
	{rule: RuleGPUDoubts, check: checkGPUDoubts, unwell: true},
	{rule: RuleClumps, check: checkClumps},
	{rule: RuleTokenCounts, check: checkTokenCounts},
	{rule: RulePathDelay, check: checkPathDelay},
	{rule: RuleUnevenReplicas, check: checkUnevenReplicas},
	{rule: RuleHostBound, check: checkHostBound, unwell: true},
	{rule: RulePrefillInterference, check: checkInterference},
	{rule: RuleStandstills, check: checkStandstills},
	{rule: RulePastKnee, check: checkPastKnee},
	{rule: RuleSaturated, check: checkSaturated},
	{rule: RuleSlowStart, check: checkSlowStart},
	{rule: RuleTTFTTail, check: tailOf("TTFT", (*measure.Request).TTFT)},
	{rule: RuleTPOTTail, check: tailOf("TPOT", (*measure.Request).TPOT)},
	{rule: RuleE2ETail, check: checkE2ETail},
	{rule: RulePrefixCache, check: checkPrefixCache},
	{rule: RuleShortOutput, check: checkShortOutput},
	{rule: RuleLongOutput, check: checkLongOutput},
	{rule: RulePromptLength, check: checkPromptLength},
	{rule: RuleSharedServer, check: checkSharedServer},
	{rule: RuleSlowed, check: checkSlowed, unwell: true},
	{rule: RuleSlowDecode, check: checkSlowDecode, unwell: true},
	{rule: RuleBandwidthBound, check: checkBandwidthBound, unwell: true},
	{rule: RuleAnswerGrowth, check: checkAnswerGrowth},
	{rule: RuleTokensPerChunk, check: checkTokensPerChunk},
	{rule: RuleSLOUnclear, check: checkSLOUnclear},
}

// entryOf is the entry of a rule; empty for a state of health.
func entryOf(rule Rule) entry {
	for _, e := range table {
		if e.rule == rule {
			return e
		}
	}
	return entry{}
}

// result is what a rule found in the newest Frame.
type result struct {
	outcome outcome
	verdict Verdict
}

// ask judges a rule, once for each Frame: some rules depend on what others find.
func (h *history) ask(rule Rule, c check) (outcome, Verdict) {
	r, known := h.results[rule]
	if !known {
		r.outcome, r.verdict = c(h)
		if h.results == nil {
			h.results = map[Rule]result{}
		}
		h.results[rule] = r
	}
	return r.outcome, r.verdict
}

// finds reports whether a rule holds.
func (h *history) finds(rule Rule, c check) bool {
	found, _ := h.ask(rule, c)
	return found == holds
}

// when is the verdict if the condition holds. words is asked for only then.
func when(condition bool, words func() Verdict) (outcome, Verdict) {
	if !condition {
		return absent, Verdict{}
	}
	return holds, words()
}
