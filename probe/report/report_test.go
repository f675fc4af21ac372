package report

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/bench"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/sweep"
)

// stage plays a service that answers every request in 200 ms: in each Frame of 250 ms as
// many requests begin and end as there are streams. 8 tokens go in and 10 come out.
type stage struct {
	k      kept
	seq    uint64
	level  int
	load   frame.Load
	adjust func(*frame.Frame)
}

func newStage(slos ...slo.Target) *stage {
	return &stage{k: keeping(bench.Plan{SLOs: slos, Seed: 7})}
}

// turn changes the number of streams at the beginning of the next Frame, which still tells
// of one request from before.
func (s *stage) turn(streams int) {
	s.level++
	s.load = frame.Load{Concurrency: streams, InputTokens: 8, OutputTokens: 10, Prefix: "unique"}
}

// hold plays Frames; ttft is that of their requests, in milliseconds.
func (s *stage) hold(frames int, settled bool, ttft float64, events ...frame.Event) {
	for range frames {
		s.seq++
		end := time.Duration(s.seq) * tick
		f := &frame.Frame{Seq: s.seq, At: end, Slice: tick, Events: events}
		f.Target.Started, f.Target.URL, f.Target.Host = epoch, "http://h:8000/v1/chat/completions", "h:8000"
		f.Load.Requested, f.Load.Level, f.Load.Settled = s.load, s.level, settled
		f.Client.InFlight, f.Client.SliceOutTokens = s.load.Concurrency, 10*s.load.Concurrency
		for range s.load.Concurrency {
			f.Requests = append(f.Requests, stream(ms(end-tick)+10, ttft, (200-ttft)/9, 10))
		}
		if s.adjust != nil {
			s.adjust(f)
		}
		s.k.Add(f)
	}
}

// climb holds 1, 2, 4 and 8 streams; at 8 the first token takes 150 ms instead of 20.
func (s *stage) climb() {
	for _, streams := range []int{1, 2, 4, 8} {
		s.turn(streams)
		ttft := 20.0
		if streams == 8 {
			ttft = 150
		}
		s.hold(2, false, ttft)
		s.hold(81, true, ttft)
	}
}

var ttft100 = slo.Target{Text: "ttft_p95=100ms", Metric: "ttft", Quantile: 0.95, LimitMS: 100}

// told is what the server and the hardware say on the stage.
func told(f *frame.Frame) {
	f.Engine.Identity = engine.Identity{Kind: "vllm", Name: "vLLM", Version: "0.11.0", Model: "org/model_x", MaxModelLen: 16384, MaxRunning: 64, About: []string{"tensor parallel 2"}}
	f.Engine.Have = true
	r := &f.Engine.Reading
	r.At = epoch.Add(f.At)
	r.KVCapacityTokens, r.KVBlockTokens, r.Settings = opt.Of(32768), opt.Of(16), []string{"cache_dtype fp8"}
	r.Running, r.Waiting, r.KVFill, r.KVFillMax = opt.Of(3), opt.Of(1), opt.Of(0.25), opt.Of(0.5)
	f.GPU.At = r.At
	for _, id := range []string{"GPU-a", "GPU-b"} {
		f.GPU.GPUs = append(f.GPU.GPUs, gpu.Reading{ID: id, Name: "H100", SM: opt.Of(0.5), DRAM: opt.Of(0.75)})
	}
	f.Health = frame.Health{Stamps: "kernel", LateMsP99: 0.25, CPU: opt.Of(0.125)}
}

// Four streams are the most within the service level. By the clock of the stage they make
// 4 requests in 0.25 s: 16 requests/s, 960 RPM, 960 × 8 = 7,680 input, 960 × 10 = 9,600
// output and 17,280 total tokens/min. TPOT is (200 − 20) / 9 = 20 ms.
func TestTheReportHoldsEverything(t *testing.T) {
	s := newStage(ttft100)
	s.adjust = told
	s.climb()
	report := s.k.Report()
	dir := t.TempDir()
	if err := report.Illustrate(filepath.Join(dir, "x.md"), "md"); err != nil {
		t.Fatal(err)
	}
	md := report.Markdown()
	for _, want := range []string{
		`org/model\_x on 2 × H100 with vLLM 0.11.0 holds **4 streams** within the SLOs (ttft\_p95=100ms; meets, confidence `,
		"16.0 requests/s (960 RPM); 7680 input, 9600 output, 17.3 k total tokens/min; 4.00 in flight",
		"TTFT is 20.0 / 20.0 / 20.0 ms, TPOT is 20.0 / 20.0 / 20.0 ms, E2E is 200 / 200 / 200 ms (p50 / p95 / p99), and 0 of 320 requests failed",
		"| hardware (GPUs seen) | 2 × H100 |", "| engine | vLLM 0.11.0 |", "| max model length, tokens | 16,384 |", "| KV cache, tokens | 32,768 |",
		"| KV cache block, tokens | 16 |", "| max requests running at once | 64 |", `| other settings seen | tensor parallel 2, cache\_dtype fp8 |`,
		"| load | 4 streams |", "| confidence that it meets the SLOs | ", "| prompt requested, tokens | 8 |", "| prompt measured, p50 / p95 / mean | 8.00 / 8.00 / 8.00 (n 320) |",
		"| output requested, tokens | 10 |", "| output measured, p50 / p95 / mean | 10.0 / 10.0 / 10.0 (n 320) |",
		"| requests per s (QPS) | 16.0 |", "| requests per min (RPM) | 960 |", "| input tokens per min | 7,680 |", "| output tokens per min | 9,600 |", "| total tokens per min (TPM) | 17,280 |",
		"| streams in flight, mean | 4.00 |", "| TTFT ms, p50 / p95 / p99 | 20.0 / 20.0 / 20.0 |", "| TPOT ms, p50 / p95 / p99 | 20.0 / 20.0 / 20.0 |", "| E2E ms, p50 / p95 / p99 | 200 / 200 / 200 |",
		"| waiting in the engine, max | 1.00 |", "| engine queue time ms, p50 / p95 / p99 | — (the engine does not report it) |", "| KV cache fill, mean | 25.0 % |", "| KV cache fill, max | 50.0 % |",
		"| GPU SM, mean | 50.0 % |", "| GPU DRAM bandwidth, mean | 75.0 % |", "| error rate | 0.00 % |", "| good requests | 100 % |",
		"| client: time stamps from | kernel |", "| client: lateness ms, p99 | 0.25 |", "| client: CPU, share of one core | 12.5 % |", "| client is the bottleneck | no |",
		"### Levels (latencies in ms)", "| 8 | 640 | 150 | 150 | 150 |", "![Throughput and TTFT against the load](x-curve.svg)", "### Curve", "◀ best", "### Knee", "### Verdicts",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(md)
	}
	checkReportJSON(t, report)
}

func checkReportJSON(t *testing.T, report SweepSummary) {
	t.Helper()
	js, err := Render(report, "json", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	var form struct {
		Target struct {
			Settings map[string]any
			Hardware []Hardware
		}
		Capacity struct {
			Basis       string
			Concurrency int
		}
		Levels []struct {
			Lengths map[string]map[string]any
			Rates   map[string]float64
		}
	}
	if err := json.Unmarshal([]byte(js), &form); err != nil {
		t.Fatal(err)
	}
	if form.Capacity.Basis != "best_within_slo" || form.Capacity.Concurrency != 4 || len(form.Levels) != 4 || form.Levels[2].Rates["total_tpm"] != 17280 {
		t.Errorf("%+v", form)
	}
	if form.Levels[2].Lengths["input"]["p95"] != 8.0 || form.Levels[2].Lengths["output"]["mean"] != 10.0 {
		t.Errorf("lengths %v", form.Levels[2].Lengths)
	}
	if len(form.Target.Hardware) != 1 || form.Target.Hardware[0] != (Hardware{Name: "H100", Count: 2}) || form.Target.Settings["kv_block_tokens"] != 16.0 || form.Target.Settings["max_model_len"] != 16384.0 {
		t.Errorf("target %+v", form.Target)
	}
}

// What nobody tells is a dash, with the reason; never a zero.
func TestTheReportOfABareServer(t *testing.T) {
	s := newStage()
	s.adjust = func(f *frame.Frame) {
		f.Engine.Why = "no metrics page at http://h:8000/metrics"
		f.GPU.Why = "no exporter at h:9400"
		for i := range f.Requests {
			f.Requests[i].InTokens = 0
		}
	}
	s.climb()
	md := s.k.Report().Markdown()
	for _, want := range []string{
		"was tested up to **8 streams**; with neither a knee nor an SLO, its limit is unknown", "### At the largest load that settled",
		"| hardware (GPUs seen) | — (no exporter at h:9400) |", "| max model length, tokens | — (no metrics page at http://h:8000/metrics) |",
		"| prompt measured, p50 / p95 / mean | — (the server does not count prompts) |", "| input tokens per min | — (the server does not count prompts) |",
		"| KV cache fill, mean | — (no metrics page at http://h:8000/metrics) |", "| GPU SM, mean | — (no exporter at h:9400) |", "| good requests | — (no SLO was given) |",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the report lacks %q in\n%s", want, md)
		}
	}
}

// Nothing that a server says becomes Markdown, HTML or a control code of the report.
func TestTheReportEscapesTheServersWords(t *testing.T) {
	const evil = "a|b<img>*_`[x](y)\x1b[2J\u202e"
	s := newStage()
	s.adjust = func(f *frame.Frame) {
		told(f)
		f.Engine.Identity.Model, f.Engine.Identity.Version, f.Engine.Identity.About = evil, evil, []string{evil}
		f.Target.Notes = []string{evil}
		f.GPU.GPUs[0].Name = evil
		f.Requests = append(f.Requests, failed(ms(f.At)-100, measure.HTTP5xx, evil))
	}
	s.climb()
	report := s.k.Report()
	text, svg := report.Markdown(), report.SVG()
	if want := `a\|b&lt;img>\*\_\` + "`" + `\[x](y)\\x1b\[2J\\u202e`; !strings.Contains(text, want) {
		t.Errorf("the report lacks %s", want)
	}
	for _, bad := range []string{"\x1b", "\u202e", "<img>", "a|b"} {
		if strings.Contains(text, bad) {
			t.Errorf("the report holds %q", bad)
		}
	}
	for _, row := range strings.Split(text, "\n") {
		if strings.HasPrefix(row, "| engine |") && strings.Count(strings.ReplaceAll(row, `\|`, ""), "|") != 3 {
			t.Errorf("a cell breaks out of its row: %s", row)
		}
	}
	if strings.ContainsAny(svg, "\x1b\u202e") || strings.Contains(svg, "<img>") {
		t.Error("the picture holds the server's own words")
	}
}

// 99 requests of 1 s and one of 101 s. The mean is (99 + 101) / 100 = 2 s. The p99 lies at
// position 0.99 × 99 = 98.01 of the sorted samples, a hundredth of the way from 1 s to 101 s:
// 2 s. The p95 is 1 s, and the maximum tells the rest.
func TestOneLongRequestAmongAHundred(t *testing.T) {
	all := []measure.Request{stream(0, 500, 100_500, 2)}
	for range 99 {
		all = append(all, stream(0, 500, 500, 2))
	}
	s := summarise(bench.Plan{Load: closed, Requests: 100}, frames(102*time.Second, closed, all, nil))
	q := s.LatencyMS.E2E
	if q.N != 100 || q.Mean.V != 2000 || q.P50.V != 1000 || q.P95.V != 1000 || math.Abs(q.P99.V-2000) > 0.001 || q.Max.V != 101_000 {
		t.Errorf("%+v", q)
	}
	if md := s.Markdown(); !strings.Contains(md, "E2E is 1000 / 1000 / 2000 ms (p50 / p95 / p99)") {
		t.Errorf("%s", md)
	}
}

// Prompts of 10, 20, 30 and 40 tokens, and one that nobody counted: p50 is 25, p95 at
// position 0.95 × 3 = 2.85 is 38.5. Answers of 1 to 5: mean 3, p95 at position 3.8 is 4.8.
func TestLengths(t *testing.T) {
	var all []measure.Request
	for i := range 5 {
		r := stream(0, 50, 10, i+1)
		r.InTokens = 10 * (i + 1)
		if i == 4 {
			r.InTokens = 0
		}
		all = append(all, r)
	}
	l := summarise(bench.Plan{Load: closed, Requests: 5}, frames(time.Second, closed, all, nil)).Lengths
	if l.Input.N != 4 || l.Input.P50.V != 25 || math.Abs(l.Input.P95.V-38.5) > 1e-9 || l.Input.Mean.V != 25 {
		t.Errorf("input %+v", l.Input)
	}
	if l.Output.N != 5 || l.Output.Mean.V != 3 || math.Abs(l.Output.P95.V-4.8) > 1e-9 || l.Output.Max.V != 5 {
		t.Errorf("output %+v", l.Output)
	}
}

// sameAsRows compares what is saved with what the screen shows.
func sameAsRows(t *testing.T, when string, k kept) {
	t.Helper()
	report := k.Report()
	byLoad := map[frame.Load]*Level{}
	for _, list := range [][]Level{report.Levels, report.Others} {
		for i := range list {
			byLoad[list[i].Requested] = &list[i]
		}
	}
	rows := k.book.Levels()
	if len(rows) != len(byLoad) {
		t.Errorf("%s: %d levels saved, %d rows", when, len(byLoad), len(rows))
	}
	for i := range rows {
		r := &rows[i]
		l := byLoad[r.Load]
		if l == nil {
			t.Errorf("%s: %s is not saved", when, sweep.Describe(r.Load))
			continue
		}
		got := fmt.Sprint(l.Settled, l.Visits, l.Requests.OK, l.Requests.Failed, l.LatencyMS.TTFT.N, l.LatencyMS.TTFT.P95.V, l.LatencyMS.E2E.P99.V, l.Rates.OutputPerS, l.Rates.RPM)
		want := fmt.Sprint(r.Settled, r.Visits, r.OK, r.Failed, r.TTFT.N, Rounded(opt.Of(r.TTFT.P95)).V, Rounded(opt.Of(r.E2E.P99)).V, Rounded(r.OutTokensPerS), Rounded(r.RequestsPerS.Scale(60)))
		if got != want {
			t.Errorf("%s, %s: saved %s, on the screen %s", when, sweep.Describe(r.Load), got, want)
		}
	}
}

// File and screen agree whatever the operator does: steps, comes back, lets a visit replace
// the earlier ones, resets, stops, changes the lengths.
func TestFileAndScreenHaveTheSameLevels(t *testing.T) {
	s := newStage(ttft100)
	step := func(when string, streams, unsettled, settled int) {
		s.turn(streams)
		s.hold(unsettled, false, 30)
		s.hold(settled, true, 40)
		sameAsRows(t, when, s.k)
	}
	step("first", 2, 3, 20)
	step("second", 4, 3, 20)
	step("never settled", 8, 5, 0)
	step("back, not settled", 2, 3, 0)
	step("back, settled", 4, 3, 10)
	step("stopped", 0, 4, 0)
	step("after the stop", 8, 2, 6)
	s.k.book.Replace(true)
	step("replaced", 4, 2, 7)
	s.k.book.Replace(false)
	s.hold(1, true, 40, frame.Event{Kind: frame.EventReset, At: time.Duration(s.seq) * tick})
	sameAsRows(t, "reset", s.k)
	s.hold(5, true, 40)
	sameAsRows(t, "after the reset", s.k)
	for i := range 300 { // more settings than a table keeps
		step(fmt.Sprint("setting ", i), 10+i, 1, 1)
	}
	if n := len(s.k.book.Levels()); n > 257 {
		t.Errorf("%d loads are kept", n)
	}
	s.level++
	s.load.InputTokens = 16
	s.hold(8, true, 40)
	sameAsRows(t, "another length", s.k)
	if r := s.k.Report(); len(r.Levels) != 1 || r.Levels[0].Load.InputTokens.V != 16 || len(r.Others) < 200 {
		t.Errorf("%d levels on the curve of the present lengths, %d others", len(r.Levels), len(r.Others))
	}
}
