package sweep

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/slo"
	"sonde/probe/units"
)

// The sentences about sweeps: the screen and the reports show the same.

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

// String is the knee in one sentence.
func (k *Knee) String() string {
	at := k.At.Load
	one, _ := unit(at)
	text := fmt.Sprintf("%s: each %s more brings %s tok/s up to %s, and %s beyond",
		k.Where(), one, units.Digits3(k.GainBelow), amount(at), units.Digits3(max(0, k.GainAbove)))
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
	return append(out, k.Limit.Evidence)
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

// Line is the status in one line of plain text.
func (s *Status) Line() string {
	switch s.State {
	case Idle:
		return "no sweep"
	case Paused:
		return "sweep paused: " + s.Why
	case Failed:
		return "sweep failed: " + s.Why
	case Done:
		if s.Why != "" {
			return "sweep done, ended early: " + s.Why
		}
		return "sweep done"
	}
	total := strconv.Itoa(s.Level + s.More)
	if s.Guess {
		total = "~" + total
	}
	doing := "settling"
	if s.Settled {
		doing = units.Count(s.N, "request")
	}
	return fmt.Sprintf("sweep level %d of %s: %s, %s · %s · %s left", s.Level, total, Describe(s.Load), s.Purpose, doing, s.Remaining())
}

// Remaining is the time left as a range of round numbers. How long a level takes depends on how
// soon it settles: a quarter less or half more than by the levels before is usual.
func (s *Status) Remaining() string {
	from, to, round, unit := s.Left*3/4, s.Left*3/2, 10*time.Second, time.Second
	if to > time.Minute {
		round, unit = time.Minute, time.Minute
	}
	low, high := from/round*round/unit, max(round, (to+round-1)/round*round)/unit
	name := map[time.Duration]string{time.Second: " s", time.Minute: " min"}[unit]
	if low == 0 {
		return fmt.Sprintf("up to %d", high) + name
	}
	return fmt.Sprintf("%d–%d", low, high) + name
}

// Found are the sentences about what was found: the boundary of the SLOs, and the knee.
func (r *Result) Found() (all []string) {
	if r.Boundary != nil {
		all = append(all, r.Boundary.String())
	}
	switch {
	case r.Knee != nil:
		all = append(all, r.Knee.Where())
	case len(r.Curve) > 0:
		all = append(all, "no knee: "+r.NoKnee)
	}
	return all
}

// Where names the load of the knee.
func (k *Knee) Where() string { return "knee at " + Describe(k.At.Load) }
