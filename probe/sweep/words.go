package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/slo"
	"sonde/probe/units"
)

// This file holds all sentences about sweeps: the screen and the reports show the same.

// Describe names a load in words: "16 streams", "4 requests/s".
func Describe(l frame.Load) string {
	if l.Rate > 0 {
		return amount(l) + " requests/s"
	}
	if l.Concurrency == 1 {
		return "1 stream"
	}
	return amount(l) + " streams"
}

// does says what a load does: "16 streams meet", "1 stream meets".
func does(l frame.Load, verb, ending string) string {
	if l.Rate == 0 && l.Concurrency == 1 {
		verb += ending
	}
	return Describe(l) + " " + verb
}

// amount is the load's number alone.
func amount(l frame.Load) string {
	return units.Exact(level.Amount(l))
}

// unit is what a load is counted in, one of it and several.
func unit(l frame.Load) (one, several string) {
	if l.Rate > 0 {
		return "request/s", "requests/s"
	}
	return "stream", "streams"
}

// String is the purpose in words.
func (p Purpose) String() string {
	return [...]string{"given", "doubling", "around the SLO boundary", "confirming the SLO boundary", "around the knee"}[p]
}

// String is the resource in words.
func (r Resource) String() string {
	switch r {
	case MaxSequences:
		return "the engine's limit of sequences"
	case KVCache:
		return "the KV cache"
	case MemoryBandwidth:
		return "memory bandwidth"
	case Compute:
		return "compute"
	case ClientLimit:
		return "this client"
	case RateLimit:
		return "a rate limit"
	}
	return "unknown"
}

// String says what is missing for a knee; "" if there is one.
func (n NoKnee) String() string {
	switch n.Reason {
	case FewLevels:
		return "a knee takes at least three settled levels"
	case StillRising:
		return fmt.Sprintf("throughput still rises at %s: the knee, if there is one, lies beyond", Describe(n.Load))
	case HardlyRises:
		return fmt.Sprintf("throughput hardly rises from %s on: the knee, if there is one, lies at or below it", Describe(n.Load))
	}
	return ""
}

// String is the knee in one sentence.
func (k *Knee) String() string {
	at := k.At.Load
	one, _ := unit(at)
	text := fmt.Sprintf("knee at %s: each %s more brings %s tok/s up to %s, and %s beyond",
		Describe(at), one, units.Digits3(k.GainBelow), amount(at), units.Digits3(max(0, k.GainAbove)))
	if k.Limit.Resource != UnknownResource {
		text += "; " + k.Limit.Resource.String() + " is exhausted"
	}
	return text
}

// Evidence are the figures that the knee rests on, along the levels that it is seen at.
func (k *Knee) Evidence() []string {
	at, above, top := &k.At, &k.Above, &k.Top
	shown := []*level.Level{&k.Below, at, above}
	if top.Load != above.Load {
		shown = append(shown, top)
	}
	along := func(figure func(*level.Level) string) string {
		parts := make([]string, len(shown))
		for i, l := range shown {
			parts[i] = figure(l)
		}
		return strings.Join(parts, " → ")
	}
	_, several := unit(at.Load)
	out := []string{
		along(func(l *level.Level) string { return amount(l.Load) }) + " " + several + ": throughput " +
			along(func(l *level.Level) string { return units.Digits3(l.OutTokensPerS.V) }) + " tok/s",
		fmt.Sprintf("elasticity of throughput: %.2f before, %.2f after", level.Elasticity(&k.Below, at), level.Elasticity(at, top)),
	}
	if at.TTFT.N > 0 && top.TTFT.N > 0 {
		out = append(out, "TTFT p95 "+along(func(l *level.Level) string { return units.Digits3(l.TTFT.P95) })+" ms")
	}
	if at.Engine.Waiting.OK && top.Engine.Waiting.OK {
		out = append(out, "waiting in the engine "+along(func(l *level.Level) string { return units.Known(l.Engine.Waiting, units.Digits3) }))
	}
	if at.Engine.KV.OK && top.Engine.KV.OK {
		out = append(out, "KV cache "+along(func(l *level.Level) string { return units.Known(l.Engine.KV.Scale(100), units.Digits3) })+" % full")
	}
	if top.Little.OK {
		out = append(out, fmt.Sprintf("Little's law at %s: %s requests/s × %s ms = %s in flight, %s counted", Describe(top.Load),
			units.Digits3(top.RequestsPerS.V), units.Digits3(top.E2E.Mean), units.Digits3(top.RequestsPerS.V*top.E2E.Mean/1000), units.Digits3(top.InFlight.V)))
	}
	return append(out, k.limitEvidence())
}

// limitEvidence says how the limit shows.
func (k *Knee) limitEvidence() string {
	top, e, where := &k.Top, &k.Top.Engine, "at "+Describe(k.Top.Load)
	switch k.Limit.sign {
	case signClient:
		return "this client: " + top.Client.BehindWhy
	case signRefusals:
		return fmt.Sprintf("rate limit: %d of %d requests were refused %s", top.Refused(), top.OK+top.Failed, where)
	case signPreemptions:
		return fmt.Sprintf("KV cache: %.0f preemptions, up to %s %% full %s", e.Preemptions.V, units.Known(e.KVMax.Scale(100), units.Digits3), where)
	case signCacheFull:
		return fmt.Sprintf("KV cache: %.0f %% full with %s running, one more does not fit, and %.1f wait %s", 100*e.KVMax.V, units.Known(e.Running, units.Digits3), e.Waiting.V, where)
	case signSequences:
		return fmt.Sprintf("limit of sequences: %.1f run however many come, %.1f wait %s, and the KV cache is only %.0f %% full", e.Running.V, e.Waiting.V, where, 100*e.KVMax.V)
	case signNoRunning:
		return "what is exhausted is unknown: requests wait, and the engine does not report how many run"
	case signPartlyRuns:
		ran, waited := addedToEngine(&k.At, top)
		return fmt.Sprintf("what is exhausted is unknown: of %.0f added requests %.1f run and %.1f wait", level.InFlight(top)-level.InFlight(&k.At), ran, waited)
	case signNoCacheFill:
		return fmt.Sprintf("limit of sequences or KV cache, the engine does not report which: %.1f run however many come", e.Running.V)
	case signDRAM:
		return fmt.Sprintf("memory bandwidth: DRAM %.0f %% of its peak %s, and all requests run", 100*top.DRAM.V, where)
	case signTensor:
		return fmt.Sprintf("compute: tensor cores %.0f %% of their peak %s, and all requests run", 100*top.Tensor.V, where)
	case signArithmetic:
		return fmt.Sprintf("compute: %.0f %% of the peak arithmetic %s, and all requests run", 100*top.MFU.V, where)
	}
	return "what is exhausted is unknown: no reading of queue, KV cache or GPU shows it"
}

// String is the boundary in one sentence.
func (b *Boundary) String() string {
	switch {
	case !b.Judged:
		return "no level could be judged: no request ended after a level had settled"
	case b.Best == nil && b.Above != nil:
		return fmt.Sprintf("no load meets the SLOs: %s%s", does(b.Above.Load, "miss", "es"), missed(b.Above))
	case b.Best == nil:
		return "no load meets the SLOs"
	}
	text := does(b.Best.Load, "meet", "s") + " all SLOs" + sureness(b.Best)
	if b.Above == nil {
		return text + "; no larger load that was measured misses them"
	}
	return text + fmt.Sprintf("; %s%s", does(b.Above.Load, "miss", "es"), missed(b.Above))
}

// sureness is the confidence in words.
func sureness(l *level.Level) string {
	switch c := l.Confidence(); {
	case c.OK && sampled(l):
		return fmt.Sprintf(" (confidence %.0f %%)", 100*min(c.V, 0.994))
	case c.OK:
		return fmt.Sprintf(" by its samples, which are too few to be sure (confidence %.0f %%)", 100*c.V)
	}
	return " by its samples"
}

// missed names the SLOs that a level does not meet, with their figures, or how many of its
// requests fail.
func missed(l *level.Level) string {
	if l.Unserved() {
		return fmt.Sprintf(": %d of %d requests failed", l.Failed, l.OK+l.Failed)
	}
	var parts []string
	for i := range l.SLOs {
		if r := &l.SLOs[i]; !r.Verdict.Met() {
			parts = append(parts, r.Target.Text+actual(r))
		}
	}
	return " " + strings.Join(parts, ", ")
}

// actual is the figure that an SLO was judged by.
func actual(r *slo.Result) string {
	switch {
	case !r.Actual.OK:
		return ""
	case r.Target.Metric == slo.Success:
		return " (" + units.Digits3(100*r.Actual.V) + " %)"
	}
	return " (" + units.Digits3(r.Actual.V) + " ms)"
}

// String says why a load is too much; "" if it is not.
func (t TooMuch) String() string {
	l := &t.At
	load := Describe(l.Load)
	switch t.Reason {
	case RequestsFail:
		return fmt.Sprintf("%d of %d requests failed at %s", l.Failed, l.OK+l.Failed, load)
	case ClientBehind:
		return fmt.Sprintf("this client is the bottleneck at %s: %s", load, l.Client.BehindWhy)
	case CapInFlight:
		return fmt.Sprintf("at %s all %d streams that are allowed are in flight", load, l.Load.Concurrency)
	case NotServed:
		return fmt.Sprintf("only %s of %s are served", units.Known(l.RequestsPerS, units.Digits3), load)
	case Overload:
		return fmt.Sprintf("overload at %s: %s tok/s, no more than at %s, and TTFT p95 %s instead of %s ms",
			load, units.Known(l.OutTokensPerS, units.Digits3), Describe(t.Below.Load), units.Digits3(l.TTFT.P95), units.Digits3(t.Below.TTFT.P95))
	}
	return ""
}

// Why says why the sweep is paused, failed, or ended early; "" otherwise.
func (s *Status) Why() string {
	switch {
	case s.State == Failed && s.Err != nil:
		return s.Err.Error()
	case s.State == Done:
		return s.EndedEarly.String()
	case s.State != Paused:
		return ""
	case s.Pause == LoadChanged:
		return "the load was changed by hand"
	case s.Pause == LoadTaken && s.Note != "":
		return s.Note
	case s.Pause == LoadTaken:
		return "the load was taken away"
	}
	return "stopped"
}

// Line is the status in one line of plain text.
func (s *Status) Line() string {
	switch s.State {
	case Idle:
		return "no sweep"
	case Paused:
		return "sweep paused: " + s.Why()
	case Failed:
		return "sweep failed: " + s.Why()
	case Done:
		if why := s.Why(); why != "" {
			return "sweep done, ended early: " + why
		}
		return "sweep done"
	}
	total, about := strconv.Itoa(s.Level+s.More), ""
	if s.Guess {
		total, about = "~"+total, "about "
	}
	doing := "settling"
	if s.Settled {
		doing = fmt.Sprintf("%d requests", s.N)
	}
	left := fmt.Sprintf("%.0f s", s.Left.Seconds())
	if seconds := int(math.Round(s.Left.Seconds())); seconds >= 60 {
		left = fmt.Sprintf("%d:%02d min", seconds/60, seconds%60)
	}
	return fmt.Sprintf("sweep level %d of %s: %s, %s · %s · %s%s left", s.Level, total, Describe(s.Load), s.Purpose, doing, about, left)
}
