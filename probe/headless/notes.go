package headless

import (
	"fmt"
	"slices"

	"sonde/probe/measure"
	"sonde/probe/report"
)

// notes gathers remarks in the order of their first appearance, and how often
// each came.
type notes struct {
	counts map[string]int
	order  []string
}

func (n *notes) add(text string) {
	if text == "" {
		return
	}
	if n.counts == nil {
		n.counts = map[string]int{}
	}
	if n.counts[text] == 0 {
		if len(n.order) >= report.MaxNotes {
			return
		}
		n.order = append(n.order, text)
	}
	n.counts[text]++
}

func (n *notes) list() []string {
	out := make([]string, 0, len(n.order))
	for _, text := range n.order {
		if c := n.counts[text]; c > 1 {
			text = fmt.Sprintf("%s (%d times)", text, c)
		}
		out = append(out, text)
	}
	return out
}

// remarks are all notes of a run, most important first.
func (a *Accumulator) remarks(rates Rates) []string {
	c := &a.counts
	all := []string{
		c.endReason,
		iff(a.time.loadGone, "ended early: the load was taken away"),
		a.notReady(),
		a.client.note(),
		iff(a.time.warmupEnded > 0, "warm-up: %d requests are in no count", a.time.warmupEnded),
		left(c.requests.Excluded),
		a.behindSchedule(rates),
		iff(c.wholeReplies > 0, "%d replies came whole instead of streamed: no TTFT, gap and TPOT for them", c.wholeReplies),
		c.uncountedNote(),
		iff(c.perChunk().Or(1) > 1.2, "%.1f tokens per chunk: a gap is not a token", c.perChunk().V),
		iff(c.coalescedShare().Or(0) > 0.5, "delivered in bursts: %.0f %% of chunks came in one read with another", 100*c.coalescedShare().V),
		iff(c.requests.Cancelled > 0 && !a.interrupted, "%d streams were still running after the drain and were cancelled", c.requests.Cancelled),
		iff(a.engine.restarts > 0, "the engine restarted: the intervals around it are left out of its figures"),
	}
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	if a.last != nil {
		all = append(all, a.last.Target.Notes...)
		all = append(all, a.gpus.remarks(&a.last.GPU)...)
	}
	return append(all, a.notes.list()...)
}

// left tells of requests that ran while our process did not.
func left(excluded int) string {
	if excluded == 1 {
		return "1 request is in no latency figure: this process was stopped while it ran"
	}
	return iff(excluded > 1, "%d requests are in no latency figure: this process was stopped while they ran", excluded)
}

func (a *Accumulator) notReady() string {
	n := a.counts.requests.ByClass[measure.Loading]
	switch {
	case n == 0:
		return ""
	case !a.time.success:
		return fmt.Sprintf("the server was still loading its model (%d refusals): nothing was measured", n)
	}
	return fmt.Sprintf("the server was loading its model (%d refusals): the window starts with the first success", n)
}

// waitsForSlot is a median wait in the client, in ms, that is more than the time
// it takes to start a request.
const waitsForSlot = 20

// behindSchedule tells how far an open loop stayed below the rate asked for. A
// rate that is low without waiting is chance: Poisson drew fewer arrivals.
func (a *Accumulator) behindSchedule(rates Rates) string {
	asked := a.plan.Load.Rate
	got := rates.RequestsPerS
	wait, known := a.latency.ClientQueue.Quantile(0.5)
	return iff(asked > 0 && got.OK && got.V < 0.95*asked && known && wait > waitsForSlot,
		"%.1f of %.1f requests per second were achieved: requests had to wait for a free stream", got.V, asked)
}
