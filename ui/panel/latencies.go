package panel

import (
	"fmt"
	"math"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/chart"
	"sonde/ui/history"
	"sonde/ui/text"
	"sonde/ui/theme"
)

func newTTFT() *latency {
	return &latency{
		metric: "ttft", name: "TTFT", engine: engineTTFT, about: aboutTTFT,
		of:   func(ttft, _ measure.Summary) measure.Summary { return ttft },
		seen: func(s *history.Seen) bool { return s.TTFT },
		foot: waitingNote, notes: ttftNotes, floor: ttftFloor, below: turnTable,
	}
}

var aboutTTFT = Explanation{
	Title: "TTFT: time to first token",
	Text: []string{
		"From the first byte of the request on a ready connection to the arrival of the first chunk with generated text. Reasoning and tool calls count as text.",
		"Connecting, TLS and waiting for a free stream in this client are not included; they are the setup time.",
		"TTFA, in the zoomed view: time to the first non-reasoning token, where that differs.",
		"A request without a token has no TTFT yet. Until its first token it shows as \"oldest waiting\".",
		"Lines: p50, p95 and p99 of the requests whose first token arrived in that half column.",
	},
}

func newTPOT() *latency {
	position := &positionChart{}
	return &latency{
		metric: "tpot", name: "TPOT", engine: engineGap, about: aboutTPOT,
		of:   func(_, tpot measure.Summary) measure.Summary { return tpot },
		seen: func(s *history.Seen) bool { return s.TPOT },
		notes: func(v *View) []text.Figure {
			return []text.Figure{text.Fig("tokens per chunk "+units.Known(v.Frame.Client.TokensPerChunk, units.Sig3), v.Theme.Plain)}
		},
		floor: tpotFloor, below: position.draw,
	}
}

var aboutTPOT = Explanation{
	Title: "TPOT: time per output token",
	Text: []string{
		"For each request: the time from its first to its last token, divided by the number of tokens after the first chunk. Undefined for responses of one token.",
		"TPOT is a mean over one response. The gap panel shows the variation that it hides.",
		"Zoomed, a second chart shows the mean gap by position in the response, over the requests of this level. It rises when decoding slows down as the KV cache grows.",
		"Lines: p50, p95 and p99 of the requests that ended in that half column.",
	},
}

// longWait is how long a request may wait for its first token before the panel says so, if
// there is no p95 to compare with.
const longWait = time.Second

// waitingNote is a lower bound for the TTFT of a request that still waits: a stall shows
// while it happens, not afterwards.
func waitingNote(v *View) []text.Figure {
	c := &v.Frame.Client
	wait := c.OldestWaiting
	p95 := time.Duration(c.TTFT.P95 * float64(time.Millisecond))
	if wait <= 0 || wait <= longWait && (c.TTFT.N == 0 || wait <= p95) {
		return nil
	}
	return []text.Figure{text.Fig(theme.SignWarn+" oldest waiting "+units.Span(wait), v.Theme.Warn)}
}

// ttftNotes are numbers that explain a TTFT: what came before it and after it.
func ttftNotes(v *View) []text.Figure {
	c, t := &v.Frame.Client, v.Theme
	notes := []text.Figure{summaryNote(t, "setup", c.Setup), summaryNote(t, "E2E", c.E2E)}
	if answersLater(c.TTFT, c.TTFA) {
		notes = append(notes, summaryNote(t, "TTFA", c.TTFA))
	}
	return append(append(notes, pathNote(v)...), waitingNote(v)...)
}

// answersLater reports whether the answer begins later than the first token. Over the same
// requests any difference counts. A request whose answer is still to come is in only one of
// the two, so otherwise it takes a tenth more.
func answersLater(first, answer measure.Summary) bool {
	if answer.N == 0 {
		return false
	}
	if answer.N == first.N {
		return answer.P50 != first.P50 || answer.P95 != first.P95
	}
	return answer.P50 > 1.1*first.P50 || answer.P95 > 1.1*first.P95
}

func summaryNote(t *theme.Palette, name string, s measure.Summary) text.Figure {
	if s.N == 0 {
		return text.Fig(name+" "+units.Unknown, t.Dim)
	}
	u := units.LatencyFor(s.P95, s.P95)
	return text.Fig(fmt.Sprintf("%s p50 %s  p95 %s", name, u.Of(s.P50), u.With(s.P95)), t.Plain)
}

// pathNote puts the engine's own TTFT beside ours. The difference is the path: network,
// gateways, API process. Both are means, because means can be subtracted. If the engine also
// counts other clients' requests, or not all of ours, the path is unknown.
func pathNote(v *View) []text.Figure {
	ours := v.Frame.Client.TTFT
	h := v.History.Engine.Grown(engineTTFT, v.Frame.Client.Window)
	if ours.N == 0 || h.Count < 1 {
		return nil
	}
	engines := 1000 * h.Mean().Or(0)
	note := text.Fig("engine TTFT mean "+units.Millis(engines), v.Theme.Plain)
	path := ours.Mean - engines
	if math.Abs(h.Count-float64(ours.N)) > othersShare*float64(ours.N) || path < 0 {
		return []text.Figure{note}
	}
	return []text.Figure{note, text.Fig("network, gateway "+units.Millis(path), v.Theme.Plain)}
}

// othersShare is how far the engine's count of requests may differ from ours while they are
// still the same ones: readings and windows do not end together.
const othersShare = 0.25

// fact is one figure of the roofline, with its meaning.
type fact struct {
	name    string
	value   opt.Float
	write   func(float64) string
	meaning string
}

func tpotFloor(v *View) []fact {
	r := &v.Frame.Roofline
	return []fact{
		{"floor", r.TPOTFloorMS, units.Millis, "minimum time of a decode step: its bytes at peak bandwidth or its arithmetic at peak FLOP/s, whichever is longer"},
		{"MBU", r.MBU, units.WholePercent, "memory bandwidth utilisation: bytes of a decode step, divided by mean TPOT × peak bandwidth"},
	}
}

func ttftFloor(v *View) []fact {
	r := &v.Frame.Roofline
	return []fact{
		{"floor", r.TTFTFloorMS, units.Millis, "minimum time to prefill the mean prompt alone: its arithmetic at peak FLOP/s or one read of the weights, whichever is longer"},
		{"MFU", r.MFU, units.WholePercent, "model FLOP/s utilisation: 2 FLOP per active parameter and token, of prompts and responses, divided by the peak"},
	}
}

// floorNotes are the figures for the table; none if all are unknown.
func floorNotes(t *theme.Palette, facts []fact) []text.Figure {
	var notes []text.Figure
	for _, f := range facts {
		if f.value.OK {
			notes = append(notes, text.Fig(f.name+" "+f.write(f.value.V), t.Plain))
		}
	}
	return notes
}

// floorNow explains them.
func floorNow(v *View, facts []fact) []string {
	var now []string
	for _, f := range facts {
		if f.value.OK {
			now = append(now, f.name+" "+f.write(f.value.V)+": "+f.meaning)
		}
	}
	switch r := &v.Frame.Roofline; {
	case len(now) > 0:
		now = append(now, "assuming "+text.Clean(r.Assumes))
	case r.Why != "":
		now = append(now, "floor "+units.Unknown+": "+text.Clean(r.Why))
	}
	return now
}

// positionChart draws the mean gap by position in the response.
type positionChart struct{ ranger chart.Ranger }

// fewestForPositions is how many requests it takes for a shape over positions.
const fewestForPositions = 3

func (c *positionChart) draw(v *View, w, h int) []string {
	at, t := &v.History.Positions, v.Theme
	u := units.LatencyFor(at.Typical(), at.Typical())
	title := t.Dim.Render(" gap by position in the response, " + u.Name)
	if at.Requests < fewestForPositions || len(at.Buckets) < 2 {
		return chart.Fit([]string{title, t.Dim.Render(" not enough responses at this level yet")}, w, h)
	}
	values := make([]float64, len(at.Buckets))
	for i := range values {
		values[i] = orNaN(at.Buckets[i].Mean())
	}
	p := chart.New(w, h-2, c.ranger.Scale(values), u.Label, t.Border)
	p.ASCII = t.ASCII
	p.Line(stretch(values, p.Cols*dotsPerColumn), t.First, 'o')
	axis := text.Pad("0", p.Cols-8) + text.Right(whole(len(values)*history.PositionStep), 8)
	return append(append([]string{title}, p.Picture()...), t.Dim.Render(text.Right(axis, w)))
}

// stretch spreads values over n dots by linear interpolation.
func stretch(values []float64, n int) []float64 {
	out := blanks(n)
	if len(values) == 0 || n < 2 {
		return out
	}
	for i := range out {
		at := float64(i) * float64(len(values)-1) / float64(n-1)
		low := int(math.Floor(at))
		high := min(low+1, len(values)-1)
		out[i] = values[low] + (values[high]-values[low])*(at-float64(low))
	}
	return out
}
