package diagnose

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
var table = []func() rule{
	func() rule { return &allFail{} },
	func() rule { return &stalled{} },
	func() rule { return &hang{} },
	func() rule { return &clientBottleneck{} },
	func() rule { return &someFail{} },
	func() rule { return &sloMissed{} },
	func() rule { return &engineRestarted{} },
	func() rule { return &rateLimits{} },
	func() rule { return &overload{} },
	func() rule { return &preemptions{} },
	func() rule { return &kvFull{} },
	func() rule { return &gpuIdle{} },
	func() rule { return &pastKnee{} },
	func() rule { return &slowStart{} },
	func() rule { return &pathDelay{} },
	func() rule { return &clumps{} },
	func() rule { return &tail{name: "ttft_tail", what: "TTFT", pick: ttft} },
	func() rule { return &tail{name: "tpot_tail", what: "TPOT", pick: tpot} },
	func() rule { return &fewFail{} },
	func() rule { return &prefixCache{} },
	func() rule { return &shortOutput{} },
	func() rule { return &promptLength{} },
	func() rule { return &bandwidthBound{} },
	func() rule { return &slowDecode{} },
	func() rule { return &answerGrowth{} },
	func() rule { return &manyTokensPerChunk{} },
	func() rule { return &sloUnclear{} },
}

// found turns a condition into an outcome.
func found(yes bool) outcome {
	if yes {
		return holds
	}
	return absent
}
