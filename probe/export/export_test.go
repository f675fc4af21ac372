package export

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"sonde/probe/diagnose"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// answered is a request of 200 ms to the first token, then two gaps of 10 ms and one of 40 ms.
func answered() *measure.Request {
	const ms = time.Millisecond
	r := &measure.Request{
		Start: time.Second, First: 1200 * ms, Last: 1260 * ms, End: 1261 * ms, Setup: 3 * ms,
		Streamed: true, Chunks: 4, InTokens: 18, OutTokens: 4, FirstTokens: 1,
	}
	for _, gap := range []time.Duration{10 * ms, 40 * ms, 10 * ms} {
		r.AddGap(gap)
	}
	return r
}

// lines are the series of the page that begin with one of the names.
func lines(t *testing.T, m *Metrics, names ...string) []string {
	t.Helper()
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	var found []string
	for line := range strings.Lines(w.Body.String()) {
		for _, name := range names {
			if strings.HasPrefix(line, name) {
				found = append(found, strings.TrimSpace(line))
			}
		}
	}
	return found
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRequestsBecomeSeries(t *testing.T) {
	m := New("1.2.3")
	m.Count("http://a:1", "m", answered())
	m.Count("http://a:1", "m", &measure.Request{Class: measure.RateLimited, Reused: true})
	m.Count("http://a:1", "m", &measure.Request{Class: measure.Loading, Reused: true})
	m.Count("http://a:1", "m", &measure.Request{Long: true})
	stopped := answered()
	stopped.Excluded, stopped.Reused = true, true
	m.Count("http://a:1", "m", stopped)

	is := `{endpoint="http://a:1",model="m"}`
	counted := slices.DeleteFunc(lines(t, m, "sonde_requests_total", "sonde_prompt", "sonde_generation", "sonde_build"), func(line string) bool { return strings.HasSuffix(line, " 0") })
	wantLines(t, counted,
		`sonde_build_info{version="1.2.3"} 1`,
		`sonde_generation_tokens_total`+is+` 8`,
		`sonde_prompt_tokens_total`+is+` 36`,
		`sonde_requests_total{class="",endpoint="http://a:1",model="m",result="loading"} 1`,
		`sonde_requests_total{class="",endpoint="http://a:1",model="m",result="ok"} 2`,
		`sonde_requests_total{class="rate_limited",endpoint="http://a:1",model="m",result="failed"} 1`)
	// TPOT is 60 ms over three tokens. Only one of the two answers counts.
	for name, want := range map[string]struct {
		n   string
		sum float64
	}{
		"sonde_ttft_seconds": {"1", 0.2}, "sonde_tpot_seconds": {"1", 0.02},
		"sonde_gap_seconds": {"3", 0.06}, "sonde_e2e_seconds": {"1", 0.26}, "sonde_connection_setup_seconds": {"1", 0.003},
	} {
		wantLines(t, lines(t, m, name+"_count"), name+"_count"+is+" "+want.n)
		if sum := value(t, lines(t, m, name+"_sum")); math.Abs(sum-want.sum) > 1e-7 {
			t.Errorf("%s: sum %v, want %v", name, sum, want.sum)
		}
	}
	wantLines(t, lines(t, m, `sonde_gap_seconds_bucket{endpoint="http://a:1",model="m",le="0.01"}`, `sonde_gap_seconds_bucket{endpoint="http://a:1",model="m",le="0.03"}`),
		`sonde_gap_seconds_bucket{endpoint="http://a:1",model="m",le="0.01"} 2`,
		`sonde_gap_seconds_bucket{endpoint="http://a:1",model="m",le="0.03"} 2`)
}

func value(t *testing.T, series []string) float64 {
	t.Helper()
	if len(series) != 1 {
		t.Fatalf("%v: want one series", series)
	}
	v, err := strconv.ParseFloat(series[0][strings.LastIndexByte(series[0], ' ')+1:], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A class that never occurred is there with 0: an increase of a series that appears is not seen.
func TestAnnouncedCountersBeginAtZero(t *testing.T) {
	m := New("v")
	m.Announce("http://a:1", "m")
	got := lines(t, m, "sonde_requests_total")
	if len(got) != len(measure.Classes) {
		t.Errorf("%d series for %d classes", len(got), len(measure.Classes))
	}
	for _, line := range got {
		if !strings.HasSuffix(line, " 0") {
			t.Error(line)
		}
	}
}

// A scraper that asks for protobuf gets native histograms beside the classic buckets.
func TestHistogramsAreNativeAndClassic(t *testing.T) {
	m := New("v")
	m.Count("http://a:1", "m", answered())
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, req)
	decoder := expfmt.NewDecoder(w.Body, expfmt.ResponseFormat(w.Header()))
	histograms := 0
	for {
		var family dto.MetricFamily
		if err := decoder.Decode(&family); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if family.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		histograms++
		// 2^(2^-3) = 1.09 is the coarsest native schema within 1.1.
		if h := family.GetMetric()[0].GetHistogram(); h.GetSchema() != 3 || len(h.GetPositiveSpan()) == 0 || len(h.GetBucket()) == 0 {
			t.Errorf("%s: schema %d, %d spans, %d buckets", family.GetName(), h.GetSchema(), len(h.GetPositiveSpan()), len(h.GetBucket()))
		}
	}
	if histograms != 5 {
		t.Errorf("%d histograms", histograms)
	}
}

func TestStatusOfACanary(t *testing.T) {
	m := New("v")
	since := time.Unix(1_700_000_000, 250e6)
	status := []Status{{
		Endpoint: "http://a:1", Model: "m", Up: opt.Of(0), LastSuccess: since, Rule: "all_fail", Severity: diagnose.Bad,
		Canary: &Canary{State: "down", States: []string{"ok", "down"}, Since: since, Budget: 5000, Spent: 320},
	}}
	m.Watch(func() []Status { return status })
	is := `{endpoint="http://a:1",model="m"}`
	want := []string{
		`sonde_canary_budget_tokens` + is + ` 5000`,
		`sonde_canary_spent_tokens` + is + ` 320`,
		`sonde_canary_state{endpoint="http://a:1",model="m",state="down"} 1`,
		`sonde_canary_state{endpoint="http://a:1",model="m",state="ok"} 0`,
		`sonde_canary_state_since_timestamp_seconds` + is + ` 1.70000000025e+09`,
		`sonde_last_success_timestamp_seconds` + is + ` 1.70000000025e+09`,
		`sonde_requests_in_flight` + is + ` 0`,
		`sonde_up` + is + ` 0`,
		`sonde_verdict_info{endpoint="http://a:1",id="all_fail",model="m",severity="bad"} 1`,
		`sonde_verdict_severity` + is + ` 4`,
	}
	wantLines(t, lines(t, m, "sonde_canary", "sonde_up", "sonde_last", "sonde_verdict", "sonde_requests_in_flight"), want...)
	// A verdict that no longer holds leaves no series behind.
	status[0].Rule, status[0].Severity = "healthy", diagnose.Healthy
	wantLines(t, lines(t, m, "sonde_verdict_info"), `sonde_verdict_info{endpoint="http://a:1",id="healthy",model="m",severity="healthy"} 1`)
}

func TestFramesOfASession(t *testing.T) {
	m := New("v")
	s := m.NewSession("http://a:1", nil)
	f := &frame.Frame{Seq: 1, At: 2 * time.Second, Slice: 250 * time.Millisecond, Target: frame.Target{Started: time.Unix(1000, 0)}}
	f.Engine.Identity = engine.Identity{Model: "m"}
	f.Client.InFlight = 3
	s.Add(f)
	if up := lines(t, m, "sonde_up"); len(up) != 0 {
		t.Errorf("up before any request has ended: %v", up)
	}
	next := *f
	next.Seq, next.At = 2, next.At+next.Slice
	next.Requests = []measure.Request{*answered(), {Class: measure.Cancelled}}
	s.Add(&next)
	is := `{endpoint="http://a:1",model="m"}`
	wantLines(t, lines(t, m, "sonde_up", "sonde_last", "sonde_requests_in_flight", "sonde_verdict_info", `sonde_requests_total{class="",endpoint="http://a:1",model="m",result="ok"}`),
		`sonde_last_success_timestamp_seconds`+is+` 1001.261`,
		`sonde_requests_in_flight`+is+` 3`,
		`sonde_requests_total{class="",endpoint="http://a:1",model="m",result="ok"} 1`,
		`sonde_up`+is+` 1`,
		`sonde_verdict_info{endpoint="http://a:1",id="draining",model="m",severity="unknown"} 1`)
}

func TestServer(t *testing.T) {
	m := New("v")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	fail := func(err error) { t.Error(err) }
	url, err := Serve(ctx, "127.0.0.1:0", fail, m.Page())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": `<a href="/metrics">`, "/healthz": "ok", "/metrics": "sonde_build_info"} {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !strings.Contains(string(body), want) {
			t.Errorf("%s: %s", path, body)
		}
	}
	if resp, err := http.Post(url+"/metrics", "", nil); err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %v %v", resp, err)
	}
	if _, err := Serve(ctx, strings.TrimPrefix(url, "http://"), fail, m.Page()); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("a port in use: %v", err)
	}
}
