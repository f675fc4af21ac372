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
	name Rule
	new  func() rule
}{
	{RuleAllFail, func() rule { return &allFail{} }},
	{RuleLoading, func() rule { return &loading{} }},
	{RuleClientBottleneck, func() rule { return &clientBottleneck{} }},
	{RuleSomeFail, func() rule { return &someFail{} }},
	{RuleSLO, func() rule { return &sloMissed{} }},
	{RuleEngineRestarted, func() rule { return &engineRestarted{} }},
	{RuleRateLimits, func() rule { return &rateLimits{} }},
	{RuleOverload, func() rule { return &overload{} }},
	{RulePreemptions, func() rule { return &preemptions{} }},
	{RuleKVRoom, func() rule { return &kvRoom{} }},
	{RuleKVFull, func() rule { return &kvFull{} }},
	{RuleStalled, func() rule { return &stalled{} }},
	{RuleHang, func() rule { return &hang{} }},
	{RuleGPUThrottled, func() rule { return &gpuThrottled{} }},
	{RuleGPUIdle, func() rule { return &gpuIdle{} }},
	{RuleClumps, func() rule { return &clumps{} }},
	{RulePathDelay, func() rule { return &pathDelay{} }},
	{RuleUnevenReplicas, func() rule { return &unevenReplicas{} }},
	{RuleHostBound, func() rule { return &hostBound{} }},
	{RulePrefillInterference, func() rule { return &interference{} }},
	{RuleStandstills, func() rule { return &standstills{} }},
	{RulePastKnee, func() rule { return &pastKnee{} }},
	{RuleSaturated, func() rule { return &saturated{} }},
	{RuleSlowStart, func() rule { return &slowStart{} }},
	{RuleTTFTTail, func() rule { return &tail{what: "TTFT", figure: (*measure.Request).TTFT} }},
	{RuleTPOTTail, func() rule { return &tail{what: "TPOT", figure: (*measure.Request).TPOT} }},
	{RuleE2ETail, func() rule { return &outlier{} }},
	{RuleFewFail, func() rule { return &fewFail{} }},
	{RulePrefixCache, func() rule { return &prefixCache{} }},
	{RuleShortOutput, func() rule { return &shortOutput{} }},
	{RulePromptLength, func() rule { return &promptLength{} }},
	{RuleSharedServer, func() rule { return &sharedServer{} }},
	{RuleSlowed, func() rule { return &slowed{} }},
	{RuleBandwidthBound, func() rule { return &bandwidthBound{} }},
	{RuleSlowDecode, func() rule { return &slowDecode{} }},
	{RuleAnswerGrowth, func() rule { return &answerGrowth{} }},
	{RuleTokensPerChunk, func() rule { return &manyTokensPerChunk{} }},
	{RuleSLOUnclear, func() rule { return &sloUnclear{} }},
}

// found turns a condition into an outcome.
func found(yes bool) outcome {
	if yes {
		return holds
	}
	return absent
}
