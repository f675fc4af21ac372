package canary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/measure"
	"sonde/probe/slo"
)

// server is a Prober that plays a script: how the n-th probe (from 0) ends, and how long it
// takes. It notes when each one began.
type server struct {
	answer func(n int) measure.Request
	takes  time.Duration
	model  string

	mu       sync.Mutex
	began    []time.Time
	inFlight int
	most     int
	closed   bool
}

func (s *server) Probe(ctx context.Context) (string, measure.Request) {
	s.mu.Lock()
	n := len(s.began)
	s.began = append(s.began, time.Now())
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	s.mu.Unlock()
	r := s.answer(n)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		r = measure.Request{Class: measure.Cancelled}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	return s.model, r
}

func (s *server) Close() { s.closed = true }

// answered is a success with that TTFT and a TPOT of 10 ms, of 20 and 16 tokens.
func answered(ttft time.Duration) measure.Request {
	return measure.Request{
		First: ttft, Last: ttft + 150*time.Millisecond, End: ttft + 151*time.Millisecond, Streamed: true, Reused: true,
		Chunks: 16, InTokens: 20, OutTokens: 16, FirstTokens: 1,
	}
}

// buffered is a success whose tokens a proxy held back.
func buffered() measure.Request {
	r := answered(250 * time.Millisecond)
	r.Last, r.Coalesced = r.First, 15
	return r
}

func fails(c measure.Class, message string) measure.Request {
	return measure.Request{Class: c, Error: message, Cause: measure.CauseOf(message)}
}

var refused = fails(measure.Connect, "connection refused by a:1")

func target(s *server) Target {
	return Target{Name: "a", Endpoint: "http://a:1", Prober: s, Every: 10 * time.Second, Timeout: 30 * time.Second, Input: 16, Output: 16}
}

// play runs a canary on targets for a while and returns what changed.
func play(t *testing.T, d time.Duration, targets ...Target) (*Canary, []Change) {
	t.Helper()
	c := New(Options{Targets: targets, Seed: 1})
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Run: %v", err)
	}
	var changes []Change
	for change := range c.Changes() {
		changes = append(changes, change)
	}
	return c, changes
}

func TestProbesKeepToTheGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var servers []*server
		var targets []Target
		for range 5 {
			s := &server{answer: func(int) measure.Request { return answered(time.Second) }, takes: 3 * time.Second}
			servers, targets = append(servers, s), append(targets, target(s))
		}
		play(t, time.Hour, targets...)
		early, late := 0, 0
		for i, s := range servers {
			if s.most != 1 || !s.closed {
				t.Errorf("target %d: %d probes at once, closed %v", i, s.most, s.closed)
			}
			if n := len(s.began); n < 359 || n > 361 { // the last one may be early
				t.Errorf("target %d: %d probes in an hour, one every 10 s", i, n)
			}
			for k, at := range s.began {
				slot := begin.Add(time.Duration(i)*2*time.Second + time.Duration(k)*10*time.Second)
				off := at.Sub(slot)
				if off < -time.Second || off > time.Second || k == 0 && off != 0 {
					t.Fatalf("target %d, probe %d: %s off its slot", i, k, off)
				}
				if off < -500*time.Millisecond {
					early++
				} else if off > 500*time.Millisecond {
					late++
				}
			}
		}
		// Uniform jitter: a quarter of 1800 lies in each outer part, 450 with a deviation of 18.
		if early < 360 || early > 540 || late < 360 || late > 540 {
			t.Errorf("of %d probes %d are early and %d are late by more than half of the jitter", 5*360, early, late)
		}
	})
}

// A probe that takes longer than the interval delays the next one to a later slot; it has
// company at no time.
func TestSlowProbesSkipSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(int) measure.Request { return answered(time.Second) }, takes: 25 * time.Second}
		play(t, 10*time.Minute, target(s))
		if s.most != 1 {
			t.Errorf("%d probes at once", s.most)
		}
		for k := 1; k < len(s.began); k++ {
			if apart := s.began[k].Sub(s.began[k-1]); apart < 28*time.Second || apart > 32*time.Second {
				t.Errorf("probe %d began %s after the one before", k, apart)
			}
		}
	})
}

func TestDownAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{model: "m", answer: func(n int) measure.Request {
			if n >= 3 && n < 10 {
				return refused
			}
			return answered(time.Second)
		}}
		c, changes := play(t, 20*time.Minute, target(s))
		var states []string
		for _, ch := range changes {
			states = append(states, ch.Was.String()+"→"+ch.Row.State.String())
		}
		// Three successes in a row end an outage.
		want := []string{"unknown→ok", "ok→failing", "failing→down", "down→failing", "failing→ok"}
		if !slices.Equal(states, want) {
			t.Fatalf("%v, want %v", states, want)
		}
		if v := changes[2].Row.Verdict; v.Rule != diagnose.RuleAllFail || v.Severity != diagnose.Bad ||
			!strings.HasPrefix(v.Text, "every probe in the last 2") || !strings.HasSuffix(v.Text, "s has failed: connect: connection refused by a:1") {
			t.Errorf("%+v", v)
		}
		// Three failures at the usual pace, then 20, 40, 60, 60 s.
		for i, want := range map[int]float64{4: 10, 5: 10, 6: 20, 7: 40, 8: 60, 9: 60, 10: 60, 11: 10} {
			if apart := s.began[i].Sub(s.began[i-1]).Seconds(); math.Abs(apart-want) > 2 {
				t.Errorf("probe %d began %.1f s after the one before, want about %v", i, apart, want)
			}
		}
		r := c.Rows()[0]
		if r.Model != "m" || r.Failed != 7 || r.Classes[measure.Connect] != 7 || r.TTFT.V != 1000 || r.TPOT.V != 10 || r.PerS().V != 100 {
			t.Errorf("%+v", r)
		}
	})
}

func TestRetryAfterIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(n int) measure.Request {
			if n == 2 {
				r := fails(measure.RateLimited, "429: requests per min (RPM) reached")
				r.RetryAfter = 95 * time.Second
				return r
			}
			return answered(time.Second)
		}}
		_, changes := play(t, 5*time.Minute, target(s))
		if apart := s.began[3].Sub(s.began[2]); apart < 95*time.Second || apart > 100*time.Second {
			t.Errorf("the next probe came after %s", apart)
		}
		if v := changes[1].Row.Verdict; v.Rule != diagnose.RuleRateLimits || changes[1].Row.State != Failing {
			t.Errorf("%+v", v)
		}
	})
}

// In no hour more tokens than the budget, although the server counts more than was requested.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const budget = 2000
		s := &server{answer: func(n int) measure.Request {
			r := answered(time.Second)
			r.InTokens = 34 + n%3 // with a template
			return r
		}, takes: 2 * time.Second}
		to := target(s)
		to.Budget = budget
		c, _ := play(t, 5*time.Hour, to)
		cost := func(n int) int { return 34 + n%3 + 16 }
		busiest := 0
		for i, from := range s.began {
			sum := 0
			for k := i; k < len(s.began) && s.began[k].Sub(from) < time.Hour; k++ {
				sum += cost(k)
			}
			busiest = max(busiest, sum)
		}
		if busiest > budget || busiest < budget*8/10 {
			t.Errorf("the busiest hour cost %d tokens, the budget is %d", busiest, budget)
		}
		if spent := c.Rows()[0].Spent; spent > budget || spent < budget*8/10 {
			t.Errorf("the last hour cost %d", spent)
		}
	})
}

func TestBudgetTooSmallForAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(int) measure.Request { return answered(time.Second) }} // 36 tokens
		to := target(s)
		to.Budget = 33
		c, _ := play(t, 5*time.Hour, to)
		if r := c.Rows()[0]; len(s.began) != 1 || r.State != Unknown || r.Verdict.Rule != RuleBudget ||
			r.Verdict.Text != "no longer probed: one probe takes 36 tokens, and the budget is 33 an hour" {
			t.Errorf("%d probes, %+v", len(s.began), r.Verdict)
		}
	})
}

// play30 is a state and a verdict after a script of probes, one letter each.
func verdictAfter(t *testing.T, letters string, slos ...slo.Target) (State, diagnose.Verdict) {
	t.Helper()
	h := history{slos: slos}
	now := time.Unix(0, 0)
	for _, letter := range letters {
		now = now.Add(10 * time.Second)
		r := map[rune]measure.Request{
			'.': answered(100 * time.Millisecond), 's': answered(300 * time.Millisecond), 'm': answered(170 * time.Millisecond),
			'c': refused, '4': fails(measure.RateLimited, "429: slow down"), 't': fails(measure.Truncated, ""),
			'n': fails(measure.HTTP4xx, "404: The model `x` does not exist."), 'l': fails(measure.Loading, "503: loading"),
			'5': fails(measure.HTTP5xx, "500: out of memory"), 'b': buffered(),
		}[letter]
		h.add(now, &r)
	}
	return h.judge(now)
}

func TestRules(t *testing.T) {
	usual := strings.Repeat(".", 30)
	hour := strings.Repeat(".", 360)
	ttft, err := slo.Parse("ttft_p95=200ms")
	if err != nil {
		t.Fatal(err)
	}
	success, err := slo.Parse("success=99")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		probes   string
		slos     []slo.Target
		state    State
		rule     diagnose.Rule
		severity diagnose.Severity
		says     string
	}{
		{"", nil, Unknown, diagnose.RuleNoData, diagnose.Unknown, "no probe has ended yet"},
		{".", nil, OK, diagnose.RuleHealthy, diagnose.Healthy, "healthy: TTFT p50 100 ms, TPOT p50 10.0 ms"},
		{"c", nil, Failing, diagnose.RuleSomeFail, diagnose.Warn, "the probe failed: connect: connection refused by a:1"},
		{"..5", nil, Failing, diagnose.RuleSomeFail, diagnose.Warn, "1 of the last 3 probes failed: http_5xx: 500: out of memory"},
		{"..5.", nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""},
		{"..5.5.", nil, Failing, diagnose.RuleSomeFail, diagnose.Warn, ""},
		{".5.55", nil, Failing, diagnose.RuleSomeFail, diagnose.Bad, ""},
		{".5.55.", nil, Failing, diagnose.RuleSomeFail, diagnose.Warn, "3 of the last 6 probes failed: http_5xx: 500: out of memory"},
		{".555..", nil, Failing, diagnose.RuleSomeFail, diagnose.Warn, "it answers again, after 3 failures in a row: http_5xx: 500: out of memory"},
		{".555...", nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""},
		{usual + "5" + usual + "5.", nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""}, // one of the last 20
		{usual + "5.5" + strings.Repeat(".", 18), nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""},
		{usual + "5.5" + strings.Repeat(".", 17), nil, Failing, diagnose.RuleSomeFail, diagnose.Warn, ""},
		{"ccc", nil, Down, diagnose.RuleAllFail, diagnose.Bad, "every probe fails: connect: connection refused by a:1"},
		{".ccc", nil, Down, diagnose.RuleAllFail, diagnose.Bad, "every probe in the last 20 s has failed: connect: connection refused by a:1"},
		{".444", nil, Failing, diagnose.RuleRateLimits, diagnose.Warn, ""},
		{".ttt", nil, Down, RuleTruncated, diagnose.Bad, "every probe in the last 20 s has failed: truncated"},
		{".t", nil, Failing, RuleTruncated, diagnose.Warn, ""},
		{"nnn", nil, Down, RuleModelNotFound, diagnose.Bad, ""},
		{"l", nil, Down, diagnose.RuleLoading, diagnose.Info, "the server is still loading its model"},
		{"..l", nil, Down, diagnose.RuleLoading, diagnose.Warn, "the server is loading its model again"},
		{usual + "ss", nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""}, // the median of five is usual
		{usual + "sss", nil, Slow, RuleSlow, diagnose.Warn, "TTFT 300 ms, usually 100 ms"},
		{usual + "sss..", nil, Slow, RuleSlow, diagnose.Warn, ""},
		{usual + "sss...", nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""},
		{usual + "sssmmm", nil, Slow, RuleSlow, diagnose.Warn, "TTFT 170 ms, usually 100 ms"},    // over 1.5 times: it ends below
		{usual + "mmmmm", nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""},                   // under 2 times: it does not begin
		{strings.Repeat(".", 10) + "sssss", nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""}, // nothing to compare with
		{hour + strings.Repeat("s", 330), nil, Slow, RuleSlow, diagnose.Warn, ""},
		{hour + strings.Repeat("s", 350), nil, OK, diagnose.RuleHealthy, diagnose.Healthy, ""}, // it has become that slow
		{"ss..", ttft, OK, diagnose.RuleHealthy, diagnose.Healthy, ""},                         // too few
		{"..s..", ttft, Slow, diagnose.RuleSLO, diagnose.Warn, "SLO ttft_p95=200ms missed: 260 ms"},
		{"sssss", ttft, Slow, diagnose.RuleSLO, diagnose.Bad, ""},
		{usual + "5" + strings.Repeat(".", 25), success, Failing, diagnose.RuleSLO, diagnose.Warn, "SLO success=99 missed: 98.2 %"},
	} {
		state, v := verdictAfter(t, c.probes, c.slos...)
		if state != c.state || v.Rule != c.rule || v.Severity != c.severity || c.says != "" && v.Text != c.says {
			t.Errorf("%q: %s, %s %s: %s", c.probes, state, v.Rule, v.Severity, v.Text)
		}
	}
}

func TestBufferingIsNamed(t *testing.T) {
	usual := strings.Repeat(".", 30)
	if _, v := verdictAfter(t, usual+"bbbb"); v.Rule != RuleSlow || v.Text != "TTFT 250 ms, usually 100 ms" || v.Advice != "look for a proxy that buffers responses" {
		t.Errorf("%+v", v)
	}
	if _, v := verdictAfter(t, usual+"ssss"); v.Rule != RuleSlow || strings.Contains(v.Advice, "proxy") {
		t.Errorf("%+v", v)
	}
}

// A day of probes takes no more memory than an hour of them.
func TestOnlyAnHourIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(n int) measure.Request {
			if n%10 == 0 {
				return refused
			}
			return answered(time.Second)
		}}
		c, _ := play(t, 24*time.Hour, target(s))
		w := c.watches[0]
		if n := len(w.history.samples); n < 355 || n > 361 {
			t.Errorf("%d samples", n)
		}
		if n := len(w.budget.spends); n > 361 {
			t.Errorf("%d spends", n)
		}
		if r := c.Rows()[0]; r.Probes != len(w.history.samples) || len(r.Recent) != recentKept || r.Hour.TTFT.N+r.Failed != r.Probes {
			t.Errorf("%d probes, %d failed, %d recent", r.Probes, r.Failed, len(r.Recent))
		}
	})
}

// Every probe is handed on, in its target's order.
func TestEndedProbesAreHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{model: "m", answer: func(n int) measure.Request { r := answered(time.Second); r.ID = uint64(n); return r }}
		var ids []uint64
		c := New(Options{Targets: []Target{target(s)}, Ended: func(endpoint, model string, r *measure.Request) {
			if endpoint != "http://a:1" || model != "m" {
				t.Errorf("%s %s", endpoint, model)
			}
			ids = append(ids, r.ID)
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		_ = c.Run(ctx)
		if !slices.Equal(ids, []uint64{0, 1, 2}) {
			t.Errorf("%v", ids)
		}
	})
}

func TestAProbeThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(int) measure.Request { return answered(time.Second) }, takes: time.Minute}
		c, _ := play(t, 65*time.Second, target(s))
		if r := c.Rows()[0]; r.Last.Class != measure.Timeout || r.Last.Error != "no complete answer within 30 s" || r.Probes != 2 {
			t.Errorf("%d probes, %s %q", r.Probes, r.Last.Class, r.Last.Error)
		}
	})
}

// stopped is a Prober that notices the end of its time too late.
type stopped struct{}

func (stopped) Probe(context.Context) (string, measure.Request) {
	time.Sleep(45 * time.Second)
	return "m", measure.Request{Class: measure.Cancelled}
}

func (stopped) Close() {}

// A probe during which our own process was stopped is no failure of the server.
func TestOurOwnPausesAreNoFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := target(nil)
		to.Prober = stopped{}
		c, changes := play(t, 10*time.Minute, to)
		if r := c.Rows()[0]; r.Probes != 0 || r.State != Unknown || len(changes) != 0 {
			t.Errorf("%d probes, %s, %d changes", r.Probes, r.State, len(changes))
		}
	})
}

// A probe on demand has no company, takes the place of the next one, and is held to the
// budget like any other.
func TestProbeOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(int) measure.Request { return answered(time.Second) }, takes: 4 * time.Second}
		to := target(s)
		to.Budget = 36 * 20
		c := New(Options{Targets: []Target{to}})
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
		defer cancel()
		done := make(chan struct{})
		go func() { defer close(done); _ = c.Run(ctx) }()
		time.Sleep(time.Second) // the first probe is in flight
		asked := time.Now()
		r, err := c.Now(ctx, 0, 10*time.Second)
		if took := time.Since(asked); err != nil || r.Probes != 2 || took != 7*time.Second { // 3 s for the first one to end
			t.Errorf("%v, %d probes, %s", err, r.Probes, took)
		}
		if _, err := c.Now(ctx, 0, 2*time.Second); err != nil {
			t.Error(err)
		}
		if r := c.Rows()[0]; r.Last.Class != measure.Timeout {
			t.Errorf("after 2 of 4 seconds: %q", r.Last.Class)
		}
		var over *OverBudget
		for range 30 {
			if _, err = c.Now(ctx, 0, 10*time.Second); errors.As(err, &over) {
				break
			}
		}
		if over == nil || over.Budget != 720 || over.Wait <= 0 || over.Wait > time.Hour || c.Rows()[0].Spent > 720 {
			t.Errorf("%v, spent %d", err, c.Rows()[0].Spent)
		}
		<-done
		if s.most != 1 {
			t.Errorf("%d probes at once", s.most)
		}
	})
}

// A panic of ours ends the canary with an error instead of leaving a target unwatched.
func TestAPanicEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := &server{answer: func(int) measure.Request { panic("oh") }}
		c := New(Options{Targets: []Target{target(broken), target(&server{answer: func(int) measure.Request { return answered(0) }})}})
		if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "oh") {
			t.Errorf("%v", err)
		}
	})
}

func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var targets []Target
		for i := range 40 {
			s := &server{model: "m", answer: func(int) measure.Request { return answered(412 * time.Millisecond) }, takes: time.Second}
			if i == 1 {
				s.model, s.answer = "", func(int) measure.Request { return refused }
			}
			to := target(s)
			to.Name = fmt.Sprintf("t%d", i)
			targets = append(targets, to)
		}
		begin := time.Now()
		c := New(Options{Targets: targets})
		if err := c.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 3*time.Second { // 16, 16 and 8 at a time
			t.Errorf("took %s", took)
		}
		d := c.Document()
		if d.ExitCode() != 1 {
			t.Error("exit code 0 although a target is not well")
		}
		d.Rows = d.Rows[:2]
		want := "state    target  model   TTFT ms  TPOT ms  tok/s  E2E ms  setup ms\n" +
			"ok       t0      m           412     10.0    100     562         —\n" +
			"failing  t1      —             —        —      —       —         —\n" +
			"▲ t1: the probe failed: connect: connection refused by a:1\n" +
			"  → check the address and that the server is running\n"
		if got := d.Text(100, false); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		d.Rows = d.Rows[:1]
		if d.ExitCode() != 0 {
			t.Error("exit code 1 although all is well")
		}
	})
}

func TestLines(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 60e6, time.UTC)
	r := answered(412 * time.Millisecond)
	row := Row{Target: Target{Name: "@lab", Endpoint: "http://a:1"}, Model: "m", State: Down, Last: refused, TTFT: known(r.TTFT()),
		Verdict: diagnose.Verdict{Rule: diagnose.RuleAllFail, Severity: diagnose.Bad, Text: "every probe fails: \x1b[31mno", Evidence: []string{"3 failures in a row"}, Advice: "look"}}
	change := Change{At: at, Was: OK, WasFor: 90*time.Minute + time.Millisecond, Row: row}
	if got, want := change.Text(), at.Local().Format("2006-01-02 15:04:05")+" down    @lab m: every probe fails: [31mno (was ok for 90 min)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := `{"time":"2026-01-02T03:04:05.060Z","target":"@lab","endpoint":"http://a:1","model":"m","state":"down","was":"ok","was_for_s":5400.001,` +
		`"verdict":{"rule":"all_fail","severity":"bad","says":"every probe fails: \u001b[31mno","evidence":["3 failures in a row"],"advice":"look"},` +
		`"ttft_ms":412,"tpot_ms":null,"e2e_ms":null,"setup_ms":null,"class":"connect","error":"connection refused by a:1"}`
	if got := change.JSON(); got != want {
		t.Errorf("\n%s\n%s", got, want)
	}
}

// 32 tokens every 10 s are 8,640 probes and 276,480 tokens a day.
func TestCosts(t *testing.T) {
	a := target(nil)
	b := a
	b.Name, b.Model, b.Budget = "@lab", "m", 3840 // 120 probes an hour, one in 30 s
	want := "a: a probe of 16 + 16 tokens every 10 s, 276,480 tokens a day\n" +
		"@lab m: a probe of 16 + 16 tokens every 30 s, 92,160 tokens a day (the budget of 3,840 an hour stretches 10 s)\n" +
		"2 targets: 368,640 tokens a day in all"
	if got := strings.Join(Costs([]Target{a, b}), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
