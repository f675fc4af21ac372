package doctor

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/config"
	"sonde/probe/doctor/truth"
	"sonde/probe/opt"
)

func TestMain(m *testing.M) {
	if slices.Equal(os.Args[1:], []string{truth.Command}) {
		if truth.Serve() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTheProgramHasTheServersCommand(t *testing.T) {
	served := false
	actions := config.Actions{config.ServerAction: func(context.Context, config.Config) error { served = true; return nil }}
	if code := config.Execute(t.Context(), []string{truth.Command}, io.Discard, io.Discard, config.BuildInfo{}, actions); code != 0 || !served {
		t.Errorf("exit code %d, served %t", code, served)
	}
}

const ms = time.Millisecond

func near(f opt.Float, want float64) bool {
	return f.OK && f.V > want-1e-6 && f.V < want+1e-6
}

// TestErrorsOfARound: the two sides have different zeros; errors are differences
// of durations.
func TestErrorsOfARound(t *testing.T) {
	client := map[int]*arrival{
		// TTFT 20.3 ms, gaps 50 and 49.9 ms
		0: {start: 1000 * ms, at: []time.Duration{1020300 * time.Microsecond, 1070300 * time.Microsecond, 1120200 * time.Microsecond}, late: []float32{1, 2, 3}},
		// TTFT 9.9 ms, gap 51 ms
		1: {start: 2000 * ms, at: []time.Duration{2009900 * time.Microsecond, 2060900 * time.Microsecond}, late: []float32{0, 0}},
		2: {},
	}
	server := []truth.Record{
		// TTFT 20 ms, gaps 50 and 50 ms: errors 0.3; 0 and 0.1
		{Request: 0, ArrivedNS: 5e6, WroteNS: []int64{25e6, 75e6, 125e6}, TookNS: []int64{1e4, 1e4, 1e4}},
		// TTFT 10 ms, gap 50 ms: errors 0.1; 1
		{Request: 1, ArrivedNS: 10e6, WroteNS: []int64{20e6, 70e6}, TookNS: []int64{1e4, 1e4}},
	}
	e := compare(Round{Streams: 2, TokensPerS: 40, Pattern: Steps}, observed{
		client: client, server: server, problem: "connection_lost: it broke", stamps: "kernel",
		lasted: time.Second, cpu: opt.Of(0.001), tokens: 40,
	})
	if e.Streams != 2 || e.TokensPerS != 40 || e.Pattern != "steps" || e.TLS || e.Stamps != "kernel" {
		t.Errorf("load %+v", e)
	}
	// Linear quantiles: of 0.1 and 0.3 the median is 0.2, p99 0.298.
	if e.TTFT.N != 2 || !near(e.TTFT.P50, 0.2) || !near(e.TTFT.P99, 0.298) || !near(e.TTFT.Max, 0.3) {
		t.Errorf("TTFT errors %+v", e.TTFT)
	}
	// Of 0, 0.1 and 1: p99 at position 1.98 is 0.1 + 0.98·0.9.
	if e.Gap.N != 3 || !near(e.Gap.P50, 0.1) || !near(e.Gap.P99, 0.982) || !near(e.Gap.Max, 1) {
		t.Errorf("gap errors %+v", e.Gap)
	}
	// Lateness 0, 0, 1, 2, 3 ms: position 3.96 is 2.96.
	if !near(e.Late, 2.96) || !near(e.Doubt, 0.01) || !near(e.CPUUS, 25) {
		t.Errorf("late %v, doubt %v, CPU %v", e.Late, e.Doubt, e.CPUUS)
	}
	if e.Lost != 1 || e.Problem != "connection_lost: it broke" {
		t.Errorf("lost %d: %q", e.Lost, e.Problem)
	}
}

func TestNothingKnownStaysUnknown(t *testing.T) {
	e := compare(Round{Streams: 1, TokensPerS: 20}, observed{stamps: "read"})
	if e.TTFT.P50.OK || e.Gap.P99.OK || e.Late.OK || e.CPUUS.OK {
		t.Errorf("errors out of nothing: %+v", e)
	}
}

func TestRampFollowsOrObjects(t *testing.T) {
	load := Round{Streams: 2, TokensPerS: 20}
	// Two streams, 10 tokens/s each, on time; client 0.3 and server 0.5 cores.
	good := func() observed {
		return observed{
			client: map[int]*arrival{0: {late: []float32{1, 1}}, 1: {late: []float32{1, 3}}},
			server: []truth.Record{
				{DueNS: 0, WroteNS: []int64{1e6, 101e6, 1000e6}},
				{DueNS: 0, WroteNS: []int64{0, 100e6, 1000e6}},
			},
			lasted: 500 * ms, cpu: opt.Of(0.15), tokens: 10,
			serverCPU: 500 * ms,
		}
	}
	s := judge(load, good(), 2)
	if s.Rate != 20 || !near(s.Cores, 0.3) || !near(s.AllCores, 0.8) || !s.Followed {
		t.Errorf("step %+v", s)
	}
	// The third token is due at 200 ms and was written at 1000. As long as the rate
	// comes, that is no fault of the client.
	if !near(s.Behind, 800) {
		t.Errorf("server behind by %v", s.Behind)
	}
	for _, c := range []struct {
		name   string
		change func(*observed)
		want   string
	}{
		{"all well", func(*observed) {}, ""},
		{"late reads", func(o *observed) { o.client[1].late = []float32{11, 11} }, "reads were 11 ms late"},
		{"full", func(o *observed) { o.serverCPU = 900 * ms; o.cpu = opt.Of(0.6) }, "together used"},
		{"the server cannot", func(o *observed) { o.tokens = 9; o.server[1].WroteNS[2] = 1000e6 }, "scripted server cannot send faster"},
		{"never all at once", func(o *observed) { o.lasted = 0 }, "too busy"},
		{"too few came", func(o *observed) { o.tokens = 9 }, "only 18 tokens/s arrived"},
	} {
		o := good()
		for i := range o.server {
			o.server[i].WroteNS[2] = 200e6 // on time
		}
		c.change(&o)
		s := judge(load, o, 4)
		if s.Followed != (c.want == "") || !strings.Contains(s.Objection, c.want) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

func TestNextRate(t *testing.T) {
	for _, c := range []struct{ low, high, want float64 }{
		{5120, 0, 10240}, {0, 5120, 2560}, {10000, 40000, 20000}, {10000, 11000, 0}, {0, 1280, 0},
	} {
		if got := nextRate(c.low, c.high); got != c.want {
			t.Errorf("after %v followed and %v not: %v, want %v", c.low, c.high, got, c.want)
		}
	}
}

func errorsOf(streams int, gap, ttft float64) RoundErrors {
	return RoundErrors{Round: Round{Streams: streams}, Gap: ErrorsMS{P99: opt.Of(gap)}, TTFT: ErrorsMS{P99: opt.Of(ttft)}}
}

func TestBudgetInWords(t *testing.T) {
	for _, c := range []struct {
		name string
		cal  Calibration
		want []string
	}{
		{"fine up to the last but one", Calibration{
			Rounds: []RoundErrors{
				errorsOf(16, 0.02, 0.05), errorsOf(16, 0.03, 0.02), {Round: Round{Streams: 64}}, errorsOf(256, 0.05, 0.031), errorsOf(1024, 0.7, 0.3),
			},
			HighestTokensPerS: opt.Of(40960), Limit: "reads were 12 ms late (p99)",
		}, []string{
			"Up to 256 streams, gaps are right to 0.05 ms and TTFT to 0.05 ms (p99) on this machine.",
			"Up to 1,024 streams, gaps are right to 0.70 ms and TTFT to 0.30 ms (p99).",
			"sonde keeps up with 40,960 tokens/s over 256 streams; above that, reads were 12 ms late (p99).",
		}},
		{"nothing fine", Calibration{Rounds: []RoundErrors{errorsOf(16, 3.14, 12.31), errorsOf(64, 123.4, 20)}}, []string{
			"Up to 16 streams, gaps are right to 3.2 ms and TTFT to 13 ms (p99) on this machine.",
			"Up to 64 streams, gaps are right to 130 ms and TTFT to 20 ms (p99).",
		}},
		{"no rate followed", Calibration{Limit: "only 3 tokens/s arrived"}, []string{"sonde did not keep up with any rate that was tried: only 3 tokens/s arrived."}},
		{"nothing", Calibration{}, nil},
	} {
		got := c.cal.budget()
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestRoundedUp(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.00 ms", 0.001: "0.01 ms", 0.05: "0.05 ms", 0.051: "0.06 ms", 0.994: "1.00 ms", 1.01: "1.1 ms", 9.99: "10.0 ms", 10.1: "11 ms", 101: "110 ms",
	} {
		if got := roundedUp(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestEnoughSamples(t *testing.T) {
	for _, r := range wholeScript() {
		want := map[int][2]int{
			16:   {112, 8},  // 7 answers each make 100
			64:   {192, 20}, // 3 at least
			256:  {768, 20},
			1024: {3072, 20},
		}[r.Streams]
		if r.requests != want[0] || r.tokens != want[1] {
			t.Errorf("%d streams: %d requests of %d tokens, want %v", r.Streams, r.requests, r.tokens, want)
		}
	}
}

// TestShortCalibration is the real thing for a second. How small the errors are
// depends on who else is busy on the machine, and is not judged here.
func TestShortCalibration(t *testing.T) {
	quiet, inSteps := roundOf(16, Spread, false, 32, 12), roundOf(16, Steps, true, 32, 12)
	var shown []string
	c, err := calibrate(t.Context(), []Round{quiet, inSteps}, time.Now(), func(text string) { shown = append(shown, text) })
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rounds) != 2 || len(shown) != 2 {
		t.Fatalf("rounds %+v, shown %q", c.Rounds, shown)
	}
	for i, r := range c.Rounds {
		// 3 answers on each of 16 streams, of 4 tokens.
		if r.Lost != 0 || r.TTFT.N+r.Interrupted < 48 || r.Gap.N+2*r.Interrupted < 144 {
			t.Errorf("round %d: %+v", i, r)
		}
		if !r.Gap.Max.OK || r.Gap.Max.V < r.Gap.P50.V || !r.Late.OK || !r.Doubt.OK || r.TLS != (i == 1) {
			t.Errorf("round %d: %+v", i, r)
		}
	}
	for _, line := range c.Budget {
		if !strings.HasPrefix(line, "Up to 16 streams, gaps are right to ") {
			t.Errorf("budget %q", line)
		}
	}
	text, md := c.Text(0, false), c.Markdown()
	if !strings.Contains(text, "in steps, TLS") || !strings.Contains(md, "| 16 | in steps, TLS | ") {
		t.Errorf("text\n%s\nMarkdown\n%s", text, md)
	}
	data, err := json.Marshal(c)
	if err != nil || !strings.Contains(string(data), `"highest_tokens_per_s":null`) {
		t.Errorf("JSON %s, error %v", data, err)
	}
}

func TestCalibrationIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*ms)
	defer cancel()
	began := time.Now()
	long := []Round{roundOf(4, Spread, false, 4, 600)}
	if _, err := calibrate(ctx, long, began, func(string) {}); err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("error %v after %v", err, time.Since(began))
	}
}

func TestStreamsThatDoNotFitAreSkipped(t *testing.T) {
	fit := streamsThatFit()
	if fit == math.MaxInt {
		t.Skip("no limit on open files here")
	}
	c, err := calibrate(t.Context(), []Round{{Streams: fit + 1}}, time.Now(), func(string) {})
	if err != nil || len(c.Rounds) != 0 || !slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "ulimit -n") }) {
		t.Errorf("rounds %v, notes %q, error %v", c.Rounds, c.Notes, err)
	}
}

// A write of 3 ms hides when its token was sent: neither its own gap nor the next counts.
func TestInterruptedWritesAreLeftOut(t *testing.T) {
	o := observed{
		client: map[int]*arrival{0: {start: 0, at: []time.Duration{10 * ms, 63 * ms, 110 * ms, 160 * ms}, late: []float32{0, 0, 0, 0}}},
		server: []truth.Record{{Request: 0, ArrivedNS: 0, WroteNS: []int64{10e6, 60e6, 110e6, 160e6}, TookNS: []int64{1e4, 3e6, 1e4, 1e4}}},
	}
	e := compare(Round{Streams: 1, TokensPerS: 20}, o)
	if e.Interrupted != 1 || e.Gap.N != 1 || !near(e.Gap.Max, 0) || e.TTFT.N != 1 || e.Lost != 0 {
		t.Errorf("%+v", e)
	}
}
