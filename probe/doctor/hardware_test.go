package doctor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fmt"
	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/opt"
)

func TestPortsAndLoad(t *testing.T) {
	for text, ports := range map[string]int{
		"32768\t60999\n": 28232, // both ends included
		"60999 32768":    0,
		"":               0,
		"many":           0,
	} {
		if got := portsIn(text); got != ports {
			t.Errorf("%q: %d ports, want %d", text, got, ports)
		}
	}
	for _, c := range []struct {
		cores int
		busy  opt.Float
		state State
		part  string
	}{
		{8, opt.Of(0.5), OK, "8 cores, load 0.5"},
		{8, opt.Float{}, OK, "8 cores"},
		{8, opt.Of(8), Missing, "has to wait for the processor → keep other work off"},
		{1, opt.Float{}, Missing, "1 core: drawing and measuring share it"},
	} {
		var r Report
		r.section("this machine").cores(c.cores, c.busy)
		want(t, r, "processor", c.state, c.part)
	}
	var r Report
	r.section("this machine").ports(100)
	want(t, r, "local ports", Missing, "ip_local_port_range")
	r = Report{}
	r.section("this machine").ports(0)
	absent(t, r, "local ports")
}

func TestInstancesAndLostGPUs(t *testing.T) {
	part := gpu.Reading{
		ID: "GPU-a/1", Parent: "GPU-a", Name: "H100 MIG 1g.10gb", Source: "dcgm",
		SM: opt.Of(0.1), DRAM: opt.Of(0.1), Power: opt.Of(1), MemUsed: opt.Of(1), Temperature: opt.Of(40),
	}
	part.Power, part.Temperature = opt.Float{}, opt.Float{} // are the whole's
	other := part
	other.ID, other.SM, other.Note = "GPU-a/2", opt.Float{}, "SM: add it"
	whole := gpu.Reading{ID: "GPU-a", Index: 7, Name: "H100", Source: "dcgm", Power: opt.Of(1), Temperature: opt.Of(40)}
	lost := gpu.Reading{ID: "GPU-b", Index: 1, Name: "H100", Lost: true, Note: "GPU lost: Xid 79"}
	var r Report
	r.gpus(gpu.Status{GPUs: []gpu.Reading{whole, part, other, lost}, Source: "dcgm http://h:9400/metrics", Period: time.Second}, "auto", true)
	want(t, r, "MIG", OK, "2 instances of 1 GPU")
	want(t, r, "GPU 7", OK, "H100 by dcgm: all readings")
	want(t, r, "GPU 0 part", OK, "MIG 1g.10gb by dcgm: all readings")
	want(t, r, "GPU 1", Missing, "is lost: GPU lost: Xid 79 → look for Xid lines")
	if second := r.Checks[3]; second.State != Missing || second.Advice != "SM: add it" || !strings.HasSuffix(second.Found, "without SM activity") {
		t.Errorf("the part without SM: %+v", second)
	}

	r = Report{}
	r.gpus(gpu.Status{GPUs: []gpu.Reading{part}, Source: "dcgm http://h:9400/metrics", Why: "no answer from h:9400"}, "auto", true)
	want(t, r, "readings", Missing, "no newer ones: no answer from h:9400")

	r = Report{}
	r.gpus(gpu.Status{Why: "no GPU exporter at h:9400"}, "http://h:9400", false)
	want(t, r, "readings", Missing, "start dcgm-exporter on the GPU's machine")
	r = Report{}
	r.gpus(gpu.Status{Why: "no GPU exporter at h: start one there, or add --gpu URL"}, "auto", false)
	if c := r.Checks[0]; c.Advice != "" {
		t.Errorf("the way out is said twice: %+v", c)
	}
}

// A server with Prometheus' API, and one that is none.
func TestPrometheusLines(t *testing.T) {
	t.Parallel() // it waits for readings that never come
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/prom/api/v1/status/buildinfo":
			if _, _, ok := r.BasicAuth(); !ok {
				http.Error(w, "who?", http.StatusUnauthorized)
				return
			}
			_, _ = w.Write([]byte(`{"status":"success","data":{"version":"2.42.0"}}`))
		case "/engines/api/v1/query":
			_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[
				{"metric":{"__name__":"vllm:num_requests_running","job":"a","instance":"h:1"},"value":[%[1]d,"1"]},
				{"metric":{"__name__":"vllm:num_requests_running","job":"a","instance":"h:2"},"value":[%[1]d,"1"]},
				{"metric":{"__name__":"up","sonde_up":"yes","job":"a","instance":"h:3"},"value":[%[1]d,"0"]}]}}`, time.Now().Unix())
		case "/prom/api/v1/query":
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	endpoint := httptest.NewServer(goodServer())
	defer endpoint.Close()
	withUser := strings.Replace(server.URL, "http://", "http://me:"+secret+"@", 1)
	r := examine(t, endpoint.URL, func(o *Options) {
		o.Metrics, o.Prometheus, o.Selector = probe.FromPrometheus, withUser+"/prom", `job="llm"`
	})
	want(t, r, "server", OK, "version 2.42.0 at "+server.URL+"/prom")
	want(t, r, "selector", OK, `job="llm"`)
	want(t, r, "engine series", Failed, "vllm:")
	if r.ExitCode() == 0 {
		t.Error("the server that was given finds nothing, and the command succeeds")
	}

	r = examine(t, endpoint.URL, func(o *Options) {
		o.Metrics, o.GPU, o.Prometheus = probe.FromPrometheus, probe.FromPrometheus, server.URL+"/engines"
	})
	want(t, r, "engine series", OK, "of 2 replicas")
	want(t, r, "replicas", Missing, "1 of 3 replicas gone since before the start: h:3")
	want(t, r, "GPU series", Missing, "")
	if r.ExitCode() != 0 {
		t.Error("engines without GPUs are a failure")
	}

	r = examine(t, endpoint.URL, func(o *Options) { o.Metrics, o.Prometheus = probe.FromPrometheus, "http://127.0.0.1:1" })
	want(t, r, "server", Missing, "check that it is up")
	r = examine(t, endpoint.URL, nil)
	want(t, r, "server", Skipped, "--prometheus URL")
}

// Every line that is not well names a way out: in what to do, or behind a colon.
func TestEveryProblemHasAWayOut(t *testing.T) {
	noMetrics := goodServer()
	noMetrics.metrics = nil
	bare := httptest.NewServer(noMetrics)
	defer bare.Close()
	for name, r := range map[string]Report{
		"no metrics, no GPU": examine(t, bare.URL, func(o *Options) { o.GPU, o.Terminal = "nvml", Terminal{} }),
		"nothing there":      examine(t, "http://127.0.0.1:1", nil),
		"this machine only":  examine(t, "", func(o *Options) { o.GPU, o.Terminal = "auto", Terminal{Is: true, Width: 20, Height: 5} }),
	} {
		for _, c := range r.Checks {
			if (c.State == Missing || c.State == Failed) && c.Advice == "" && !strings.Contains(c.Found, ": ") {
				t.Errorf("%s: %s says %q and no way out", name, c.Name, c.Found)
			}
		}
		for line := range strings.Lines(r.Text(80, false)) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%s: %d cells: %q", name, n, line)
			}
		}
	}
}

func TestMultiplexers(t *testing.T) {
	for want, environ := range map[string][]string{
		"xterm-256color":             {"TERM=xterm-256color"},
		"tmux-256color, inside tmux": {"TERM=tmux-256color", "TMUX=x"},
		"TERM is not set":            nil,
		"screen, inside screen":      {"TERM=screen", "STY=1.pts"},
		"xterm-kitty, inside zellij": {"TERM=xterm-kitty", "ZELLIJ=0"},
	} {
		if got := called(environ); got != want {
			t.Errorf("%q: %q, want %q", environ, got, want)
		}
	}
}
