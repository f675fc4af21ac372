package api

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sonde/probe/measure"
)

// figures are what a request comes to; −1 is "no value".
type figures struct {
	class                 measure.Class
	ttft, ttfa, tpot, e2e float64 // ms
	gaps                  []float32
	in, out, reasoning    int
	source                measure.TokenSource
}

func figuresOf(r *Result) figures {
	return figures{
		class: r.Class, ttft: latency(r.TTFT()), ttfa: latency(r.TTFA()), tpot: latency(r.TPOT()), e2e: latency(r.E2E()),
		gaps: r.GapsMS, in: r.InTokens, out: r.OutTokens, reasoning: r.ReasoningTokens, source: r.Source,
	}
}

func check(t *testing.T, got *Result, want figures) {
	t.Helper()
	g := figuresOf(got)
	if g.class != want.class {
		t.Errorf("class %q (%s), want %q", g.class, got.Error, want.class)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{{"TTFT", g.ttft, want.ttft}, {"TTFA", g.ttfa, want.ttfa}, {"TPOT", g.tpot, want.tpot}, {"E2E", g.e2e, want.e2e}} {
		if math.Abs(f.got-f.want) > 1e-9 {
			t.Errorf("%s %v ms, want %v", f.name, f.got, f.want)
		}
	}
	if !slices.Equal(g.gaps, want.gaps) {
		t.Errorf("gaps %v, want %v", g.gaps, want.gaps)
	}
	if g.in != want.in || g.out != want.out || g.reasoning != want.reasoning || g.source != want.source {
		t.Errorf("tokens in %d out %d reasoning %d (%s), want %d %d %d (%s)",
			g.in, g.out, g.reasoning, g.source, want.in, want.out, want.reasoning, want.source)
	}
}

// usual is the answer of the plain two-token stream.
var usual = figures{ttft: 250, ttfa: 250, tpot: 20, e2e: 270, gaps: []float32{20}, in: 5, out: 2, source: measure.Usage}

func usualSteps(role string) []step {
	return []step{{10, roleChunk(role)}, {250, content("a")}, {270, content("b")}, {290, finished("stop") + usageChunk(5, 2) + doneMark}}
}

func TestRoleChunkIsNoToken(t *testing.T) {
	for name, role := range map[string]string{"null": `,"content":null`, "empty": `,"content":""`, "absent": ""} {
		t.Run(name, func(t *testing.T) {
			res := once(t, script{steps: usualSteps(role)})
			check(t, &res, usual)
			if got := ms(res.End - res.Start); got != 290 {
				t.Errorf("the stream ended after %v ms, want 290", got)
			}
		})
	}
}

func TestSpaceAfterColon(t *testing.T) {
	for _, form := range []struct{ name, colon, done string }{
		{"none", "data:", "data:[DONE]\n\n"}, {"three", "data:   ", "data:  [DONE] \n\n"}, {"tab", "data: ", "data: [DONE]\t\n\n"},
	} {
		t.Run(form.name, func(t *testing.T) {
			steps := usualSteps("")
			for i := range steps {
				steps[i].text = strings.ReplaceAll(strings.ReplaceAll(steps[i].text, doneMark, form.done), "data: {", form.colon+"{")
			}
			res := once(t, script{steps: steps, hold: true})
			check(t, &res, usual)
		})
	}
}

func TestReasoning(t *testing.T) {
	reason := func(field string) string { return event(`{"choices":[{"delta":{"` + field + `":"Ok"}}]}`) }
	use := event(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":3}}}`)
	res := once(t, script{steps: []step{
		{100, reason("reasoning")}, {120, reason("reasoning_content")}, {140, reason("reasoning_content")},
		{500, content("A")}, {520, content("B")}, {530, finished("stop") + use + doneMark},
	}})
	check(t, &res, figures{ttft: 100, ttfa: 500, tpot: 105, e2e: 520, gaps: []float32{20, 20, 360, 20}, in: 9, out: 5, reasoning: 3, source: measure.Usage})

	only := once(t, script{steps: []step{{100, reason("reasoning")}, {120, reason("reasoning")}, {130, finished("length") + usageChunk(9, 2) + doneMark}}})
	check(t, &only, figures{ttft: 100, ttfa: -1, tpot: 20, e2e: 120, gaps: []float32{20}, in: 9, out: 2, source: measure.Usage})
	if only.Finish != "length" {
		t.Errorf("finish %q", only.Finish)
	}
}

func TestEmptyChoices(t *testing.T) {
	for name, first := range map[string]string{
		"empty": `{"choices":[],"prompt_filter_results":[]}`, "absent": `{"prompt_filter_results":[]}`, "null": `{"choices":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			res := once(t, script{steps: []step{{5, event(first)}, {60, content("a")}, {80, content("b")}, {90, finished("stop")}, {200, usageChunk(7, 2) + doneMark}}})
			check(t, &res, figures{ttft: 60, ttfa: 60, tpot: 20, e2e: 80, gaps: []float32{20}, in: 7, out: 2, source: measure.Usage})
		})
	}
}

func TestKeepAlivesHoldTheIdleTimer(t *testing.T) {
	steps := []step{{0, "id: 1\n: ping\n\n"}}
	for i, ping := range []string{": ping\n\n", ":\n\n", "data:\n\n", ": ping\n\n", ": ping\n\n", ": ping\n\n", ": ping\n\n", ": ping\n\n"} {
		steps = append(steps, step{1000 * (i + 1), ping})
	}
	steps = append(steps, step{8200, content("a")}, step{8220, content("b") + finished("stop") + doneMark})
	var res Result
	inBubble(t, &server{scripts: []script{{steps: steps}}}, func(o *Options) { o.Idle = 3 * time.Second }, func(c *Client) {
		res = c.Do(context.Background(), Call{Text: "x", MaxTokens: 2}, quiet{})
	})
	check(t, &res, figures{ttft: 8200, ttfa: 8200, tpot: 20, e2e: 8220, gaps: []float32{20}, out: 2, source: measure.Chunks})
}

func TestSilenceTimesOut(t *testing.T) {
	for name, sc := range map[string]script{
		"after tokens": {steps: []step{{10, content("a")}, {20, content("b")}, {30, content("c")}}, hold: true},
		"no headers":   {head: " ", hold: true},
		"half a head":  {head: "HTTP/1.1 200 OK\r\nContent-", hold: true},
	} {
		t.Run(name, func(t *testing.T) {
			sc.head = strings.TrimPrefix(sc.head, " ")
			s := &server{scripts: []script{sc}}
			inBubble(t, s, func(o *Options) { o.Idle = 5 * time.Second }, func(c *Client) {
				res := c.Do(context.Background(), Call{Text: "x"}, quiet{})
				if res.Class != measure.Timeout {
					t.Errorf("class %q (%s), want timeout", res.Class, res.Error)
				}
				// The timer may come late by a sixteenth, to spare work per read.
				if waited := res.End - res.Start; waited < 5*time.Second || waited > 5500*time.Millisecond {
					t.Errorf("gave up after %v, want about 5 s after the last byte", waited)
				}
			})
		})
	}
}

func TestSlowButLivingStream(t *testing.T) {
	var steps []step
	for i := range 30 {
		steps = append(steps, step{2000 * (i + 1), content("x")})
	}
	steps = append(steps, step{60000, finished("stop") + doneMark})
	inBubble(t, &server{scripts: []script{{steps: steps}}}, func(o *Options) { o.Idle = 5 * time.Second }, func(c *Client) {
		res := c.Do(context.Background(), Call{Text: "x"}, quiet{})
		if res.Class != measure.OK || res.Chunks != 30 || slices.Max(res.GapsMS) != 2000 || slices.Min(res.GapsMS) != 2000 {
			t.Errorf("class %q, %d chunks, gaps %v; want success with gaps of 2000 ms", res.Class, res.Chunks, res.GapsMS)
		}
	})
}

func TestManyTokensInAChunk(t *testing.T) {
	var steps []step
	for i := range 10 {
		steps = append(steps, step{100 + 40*i, content("x y z w")})
	}
	steps = append(steps, step{470, finished("length") + usageChunk(8, 40) + doneMark})
	res := once(t, script{steps: steps})
	want := figures{ttft: 100, ttfa: 100, tpot: 360.0 / 39, e2e: 460, in: 8, out: 40, source: measure.Usage}
	want.gaps = slices.Repeat([]float32{40}, 9)
	check(t, &res, want)
}

func TestRunningUsageIsCumulative(t *testing.T) {
	running := func(text string, n string) string {
		return event(`{"choices":[{"delta":{"content":"` + text + `"}}],"usage":{"prompt_tokens":10,"completion_tokens":` + n + `}}`)
	}
	res := once(t, script{steps: []step{
		{100, running("a", "1")}, {130, running("bc", "3")}, {160, running("def", "6")}, {170, finished("stop") + usageChunk(10, 6) + doneMark},
	}})
	check(t, &res, figures{ttft: 100, ttfa: 100, tpot: 12, e2e: 160, gaps: []float32{30, 30}, in: 10, out: 6, source: measure.UsagePerChunk})
}

func TestOneTokenHasNoTPOT(t *testing.T) {
	res := once(t, script{steps: []step{{5, roleChunk("")}, {200, content("a")}, {201, finished("length") + usageChunk(7, 1) + doneMark}}})
	check(t, &res, figures{ttft: 200, ttfa: 200, tpot: -1, e2e: 200, in: 7, out: 1, source: measure.Usage})
}

func TestLateUsageStretchesNothing(t *testing.T) {
	res := once(t, script{steps: []step{
		{100, content("a")}, {200, content("b")}, {300, content("c")}, {400, content("d") + finished("stop")}, {900, usageChunk(5, 4)}, {1000, doneMark},
	}})
	check(t, &res, figures{ttft: 100, ttfa: 100, tpot: 100, e2e: 400, gaps: []float32{100, 100, 100}, in: 5, out: 4, source: measure.Usage})
	if got := ms(res.End - res.Start); got != 1000 {
		t.Errorf("the stream ended after %v ms, want 1000", got)
	}
}

func TestUsageOnAnEmptyChunk(t *testing.T) {
	res := once(t, script{steps: []step{{10, content("a")}, {20, event(`{"choices":[{"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":37}}`) + doneMark}}})
	check(t, &res, figures{ttft: 10, ttfa: 10, tpot: 0, e2e: 10, in: 3, out: 37, source: measure.Usage})
}

func TestBurst(t *testing.T) {
	all := strings.Repeat(content("x"), 50) + finished("stop") + doneMark
	res := once(t, script{steps: []step{{1000, all}}})
	if v, _ := res.TTFT(); v != 1000 || res.Chunks != 50 || res.Coalesced != 49 {
		t.Errorf("TTFT %v, %d chunks of which %d share a stamp; want 1000, 50, 49", v, res.Chunks, res.Coalesced)
	}
}

func TestCutCharacterCountsWhenWhole(t *testing.T) {
	whole := content("\u90a3")
	at := strings.Index(whole, "\u90a3") + 1
	res := once(t, script{steps: []step{{100, whole[:at]}, {130, whole[at:]}, {150, content("b") + finished("stop") + doneMark}}})
	check(t, &res, figures{ttft: 130, ttfa: 130, tpot: 20, e2e: 150, gaps: []float32{20}, out: 2, source: measure.Chunks})
}

func TestSetupIsApart(t *testing.T) {
	s := &server{delay: 300 * time.Millisecond, scripts: []script{{
		head:  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + strconv.Itoa(len(content("a")+finished("stop")+doneMark)) + "\r\n\r\n",
		steps: []step{{50, content("a") + finished("stop") + doneMark}},
	}}}
	inBubble(t, s, nil, func(c *Client) {
		for i, setup := range []float64{300, 0, 0} {
			res := c.Do(context.Background(), Call{Text: "x", MaxTokens: 1}, quiet{})
			if got, _ := res.TTFT(); got != 50 || ms(res.Setup) != setup || res.Reused != (i > 0) {
				t.Errorf("request %d: TTFT %v, setup %v, reused %v; want 50, %v, %v (%s)", i, got, ms(res.Setup), res.Reused, setup, i > 0, res.Error)
			}
		}
	})
}
