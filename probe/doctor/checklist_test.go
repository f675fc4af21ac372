package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/prompt"
)

const secret = "sk-test-demo-000111222333"

// scripted is an endpoint whose parts a test replaces.
type scripted struct {
	models  http.HandlerFunc
	chat    http.HandlerFunc
	metrics http.HandlerFunc
	asked   atomic.Int32 // requests for an answer
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/v1/models":
		s.models(w, r)
	case r.URL.Path == "/v1/chat/completions":
		s.asked.Add(1)
		s.chat(w, r)
	case r.URL.Path == "/metrics" && s.metrics != nil:
		s.metrics(w, r)
	case r.URL.Path == "/version":
		fmt.Fprint(w, `{"version":"0.11.0"}`)
	case r.URL.Path == "/tokenize":
		fmt.Fprint(w, `{"count":9}`)
	default:
		http.NotFound(w, r)
	}
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

// stream sends each event by itself.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
			w.(http.Flusher).Flush()
			time.Sleep(2 * time.Millisecond)
		}
	}
}

const (
	roleOnly    = `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`
	token       = `{"choices":[{"index":0,"delta":{"content":"one "}}]}`
	stop        = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage       = `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}`
	done        = `[DONE]`
	metricsPage = "vllm:num_requests_running{model_name=\"m\"} 1\nvllm:num_requests_waiting{model_name=\"m\"} 0\nvllm:kv_cache_usage_perc{model_name=\"m\"} 0.5\n"
)

func goodServer() *scripted {
	return &scripted{
		models:  text(`{"data":[{"id":"m","owned_by":"vllm","max_model_len":8192}]}`),
		chat:    stream(roleOnly, token, token, token, stop, usage, done),
		metrics: text(metricsPage),
	}
}

// examine runs the checklist. GPUs are off: this machine's are no part of a script.
func examine(t *testing.T, url string, change func(*Options)) Report {
	t.Helper()
	o := Options{
		Options:  probe.Options{URL: url, API: "chat", GPU: "off", Prompts: prompt.NewSynthetic(prompt.Unique, 1)},
		Terminal: Terminal{Is: true, Width: 120, Height: 40, Colors: "256 colours", UTF8: true},
	}
	if change != nil {
		change(&o)
	}
	r := *Examine(t.Context(), o)
	if data, err := json.Marshal(r); err != nil || strings.Contains(string(data), secret[len(secret)-8:]) {
		t.Errorf("JSON %s, error %v", data, err)
	}
	return r
}

// want checks a line: its state, and something that it says or advises.
func want(t *testing.T, r Report, name string, state State, part string) {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			if c.State != state || !strings.Contains(c.Found+" → "+c.Advice, part) {
				t.Errorf("%s: %s, %s → %s; want %s, %q", name, c.State, c.Found, c.Advice, state, part)
			}
			return
		}
	}
	t.Errorf("no line %q in %+v", name, r.Checks)
}

func absent(t *testing.T, r Report, name string) {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			t.Errorf("unexpected line %+v", c)
		}
	}
}

func TestGoodEndpoint(t *testing.T) {
	s := goodServer()
	server := httptest.NewServer(s)
	defer server.Close()
	r := examine(t, server.URL, nil)
	if !r.Ready || s.asked.Load() != 1 {
		t.Errorf("ready %v after %d requests: %+v", r.Ready, s.asked.Load(), r.Checks)
	}
	if r.URL != server.URL+"/v1/chat/completions" {
		t.Errorf("URL %q", r.URL)
	}
	want(t, r, "TCP", OK, "connected in")
	want(t, r, "key", OK, "not needed")
	want(t, r, "list", OK, "requests name m")
	want(t, r, "context", OK, "8,192 tokens")
	want(t, r, "answer", OK, "streamed: 3 tokens in 3 chunks")
	want(t, r, "usage", OK, "reported by the server")
	want(t, r, "chunks", OK, "1.0 tokens in each")
	want(t, r, "opening", OK, "with a chunk without text")
	want(t, r, "tokenizer", OK, "counts 9 tokens")
	want(t, r, "engine", OK, "vLLM 0.11.0")
	want(t, r, "metrics", OK, server.URL+"/metrics")
	want(t, r, "reported", OK, "running, waiting, KV cache fill")
	want(t, r, "not on the page", Missing, "KV cache capacity, preemptions, prefix hits, prompt tokens")
	want(t, r, "readings", Skipped, "--gpu off")
}

// Behind a load balancer two engines answer in turn: their figures are of neither.
func TestEnginesInTurn(t *testing.T) {
	t.Parallel() // it reads the page for a second
	balanced := goodServer()
	var reads atomic.Int32
	balanced.metrics = func(w http.ResponseWriter, _ *http.Request) {
		n := reads.Add(1)
		fmt.Fprintf(w, "vllm:num_requests_running 1\nvllm:generation_tokens_total %d\nprocess_start_time_seconds %d\n", 1000+5000*(n%2), 7+n%2)
	}
	server := httptest.NewServer(balanced)
	defer server.Close()
	r := examine(t, server.URL, nil)
	want(t, r, "metrics", Missing, "several engines take turns answering at "+server.URL+"/metrics")
	absent(t, r, "reported")
}

// A gauge that is not a number at first is reported once it is.
func TestAGaugeThatComesLater(t *testing.T) {
	t.Parallel() // it reads the page for a second
	late := goodServer()
	var reads atomic.Int32
	late.metrics = func(w http.ResponseWriter, _ *http.Request) {
		value := "3"
		if reads.Add(1) < 4 {
			value = "NaN"
		}
		fmt.Fprintf(w, "vllm:num_requests_running %s\nvllm:num_requests_waiting 0\n", value)
	}
	server := httptest.NewServer(late)
	defer server.Close()
	want(t, examine(t, server.URL, nil), "reported", OK, "running")
}

func TestWatchSendsNoRequest(t *testing.T) {
	s := goodServer()
	server := httptest.NewServer(s)
	defer server.Close()
	r := examine(t, server.URL, func(o *Options) { o.Watch = true })
	want(t, r, "answer", Skipped, "--watch")
	if n := s.asked.Load(); n != 0 || !r.Ready {
		t.Errorf("%d requests were sent, ready %v", n, r.Ready)
	}
}

func TestKeyIsWanted(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"wrong key %s"}}`, secret)
	}
	s := goodServer()
	s.models = refuse
	server := httptest.NewServer(s)
	defer server.Close()
	r := examine(t, server.URL, nil)
	want(t, r, "key", Failed, "use --api-key")
	absent(t, r, "answer")
	r = examine(t, server.URL, func(o *Options) { o.APIKey = secret })
	want(t, r, "key", Failed, "the server refused it (401)")
	if r.Ready {
		t.Error("ready without a key")
	}

	s = goodServer() // the list is open, answers are not
	s.chat = refuse
	open := httptest.NewServer(s)
	defer open.Close()
	r = examine(t, open.URL, func(o *Options) { o.APIKey = secret })
	if r.Ready || s.asked.Load() != 1 {
		t.Errorf("ready %v, %d requests", r.Ready, s.asked.Load())
	}
	found := false
	for _, c := range r.Checks {
		found = found || c.Name == "key" && c.State == Failed && strings.Contains(c.Advice, "more than the model list")
	}
	if !found {
		t.Errorf("no word of the key in %+v", r.Checks)
	}
}

func TestFormsOfAnAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		chat  http.HandlerFunc
		line  string
		state State
		part  string
		ready bool
	}{
		{"no usage", stream(token, token, stop, done), "usage", Missing, "estimate", true},
		{"not streamed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"choices":[{"message":{"content":"one two"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`)
		}, "answer", Failed, "not streamed", false},
		{"many tokens a chunk", stream(token, token, stop, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":8}}`, done), "chunks", Missing, "4.0 tokens in each", true},
		{"collected", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %[1]s\n\ndata: %[1]s\n\ndata: %[1]s\n\ndata: %s\n\ndata: [DONE]\n\n", token, stop)
		}, "chunks", Missing, "buffering", true},
		{"no role-only chunk", stream(token, token, stop, usage, done), "opening", OK, "the response headers arrive", true},
		{"cut", stream(token), "answer", Failed, "truncated", false},
		{"model not there", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"message":"the model does not exist"}}`)
		}, "answer", Failed, "--model", false},
		{"control codes", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "{\"error\":{\"message\":\"a\\u001b[2Jb\"}}")
		}, "answer", Failed, "a[2Jb", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := goodServer()
			s.chat = c.chat
			server := httptest.NewServer(s)
			defer server.Close()
			r := examine(t, server.URL, nil)
			want(t, r, c.line, c.state, c.part)
			if r.Ready != c.ready {
				t.Errorf("ready %v, want %v", r.Ready, c.ready)
			}
		})
	}
}

func TestNoMetrics(t *testing.T) {
	s := goodServer()
	s.metrics = nil
	server := httptest.NewServer(s)
	defer server.Close()
	r := examine(t, server.URL, nil)
	want(t, r, "metrics", Missing, "404")
	if !r.Ready {
		t.Error("measuring needs no metrics")
	}
	r = examine(t, server.URL, func(o *Options) { o.Metrics = "off" })
	want(t, r, "metrics", Skipped, "--metrics off")
}

// A server that loads its model for minutes does not hold the checklist up.
func TestLoadingServer(t *testing.T) {
	s := goodServer()
	s.models = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	waitLess(t, 1500*time.Millisecond)
	r := examine(t, server.URL, nil)
	want(t, r, "list", Failed, "still loading its model (503) → wait")
	if r.Ready {
		t.Error("ready without a model")
	}
}

func waitLess(t *testing.T, d time.Duration) {
	t.Helper()
	before := loadingPatience
	loadingPatience = d
	t.Cleanup(func() { loadingPatience = before })
}

// In TLS 1.3 a server says only after the handshake that it wants a client certificate, or
// another one.
func TestClientCertificateIsWanted(t *testing.T) {
	refuse := func([][]byte, [][]*x509.Certificate) error { return errors.New("no") }
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, c := range []struct {
			name  string
			auth  tls.ClientAuthType
			check func([][]byte, [][]*x509.Certificate) error
			give  bool
			row   string
			state State
			found string
		}{
			{"wanted", tls.RequireAnyClientCert, nil, false, "TLS", Failed, "--cert FILE --key FILE"},
			{"given", tls.RequireAnyClientCert, nil, true, "certificate", OK, "accepts yours"},
			{"refused", tls.RequireAnyClientCert, refuse, true, "TLS", Failed, "wants a client certificate that it accepts"},
			{"optional", tls.RequestClientCert, nil, false, "certificate", OK, "accepts connections without one"},
		} {
			t.Run(tls.VersionName(version)+", "+c.name, func(t *testing.T) {
				server := httptest.NewUnstartedServer(goodServer())
				server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
				server.TLS = &tls.Config{ClientAuth: c.auth, VerifyPeerCertificate: c.check, MaxVersion: version}
				server.StartTLS()
				defer server.Close()
				trusting := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
				if c.give {
					trusting.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
						return &server.TLS.Certificates[0], nil
					}
				}
				r := examine(t, server.URL, func(o *Options) { o.TLS = trusting })
				want(t, r, c.row, c.state, c.found)
				if failed := c.state == Failed; r.Ready == failed {
					t.Errorf("ready %v", r.Ready)
				}
			})
		}
	}
}

// The certificate is wanted, but the server just hangs up.
func TestClientCertificateIsWantedWithoutAWord(t *testing.T) {
	source := httptest.NewTLSServer(goodServer())
	defer source.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: source.TLS.Certificates, ClientAuth: tls.RequestClientCert})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_ = c.(*tls.Conn).Handshake()
			_ = c.Close()
		}
	}()
	trusting := source.Client().Transport.(*http.Transport).TLSClientConfig
	r := examine(t, "https://"+l.Addr().String(), func(o *Options) { o.TLS = trusting })
	want(t, r, "TLS", Failed, "asked for a client certificate and ended the connection → give one")
}

func TestCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(goodServer())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	server.StartTLS()
	defer server.Close()
	r := examine(t, server.URL, nil)
	want(t, r, "TLS", Failed, `"O=Acme Co" (self-signed), is not trusted → give its CA with --ca FILE`)
	absent(t, r, "key")

	trusting := server.Client().Transport.(*http.Transport).TLSClientConfig
	r = examine(t, server.URL, func(o *Options) { o.TLS = trusting })
	want(t, r, "TLS", OK, "TLS 1.3, certificate issued by")
	want(t, r, "answer", OK, "streamed")

	insecure := trusting.Clone()
	insecure.InsecureSkipVerify = true
	r = examine(t, server.URL, func(o *Options) { o.TLS, o.Insecure = insecure, true })
	want(t, r, "TLS", Missing, "--insecure")
	if !r.Ready {
		t.Errorf("not ready: %+v", r.Checks)
	}

	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	r = examine(t, "https://localhost:"+port, func(o *Options) { o.TLS = trusting })
	want(t, r, "TLS", Failed, "is valid for example.com, ")

	r = examine(t, "http://"+server.Listener.Addr().String(), nil)
	want(t, r, "list", Failed, "use https://")

	plain := httptest.NewServer(goodServer())
	defer plain.Close()
	r = examine(t, "https://"+plain.Listener.Addr().String(), nil)
	want(t, r, "TLS", Failed, "use http://")
}

func TestNothingThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // a port where nothing listens
	r := examine(t, "http://u:"+secret+"@"+l.Addr().String(), nil)
	want(t, r, "TCP", Failed, "connection refused by "+l.Addr().String())
	absent(t, r, "list")
	if r.Ready {
		t.Error("ready without a server")
	}
	r = examine(t, "ftp://host", nil)
	want(t, r, "URL", Failed, "only http and https")
}

func TestThisMachineOnly(t *testing.T) {
	r := examine(t, "", func(o *Options) { o.Terminal = Terminal{} })
	if !r.Ready || r.URL != "" {
		t.Errorf("ready %v: %+v", r.Ready, r.Checks)
	}
	want(t, r, "terminal", Missing, "sonde bench")
	want(t, r, "readings", Skipped, "--gpu off")
	absent(t, r, "TCP")
	text := r.Text(60, false)
	for line := range strings.Lines(text) {
		if n := len([]rune(line)); n > 61 {
			t.Errorf("%d cells: %q", n, line)
		}
	}
	if !strings.HasSuffix(text, "could be better.\n") || strings.Contains(text, "\x1b") {
		t.Errorf("text\n%s", text)
	}
	if md := r.Markdown(); !strings.Contains(md, "| this machine: terminal |  | ") {
		t.Errorf("Markdown\n%s", md)
	}
}

func TestTerminalLines(t *testing.T) {
	for _, c := range []struct {
		terminal Terminal
		name     string
		state    State
		part     string
	}{
		{Terminal{Is: true, Width: 120, Height: 40}, "terminal size", OK, "120×40"},
		{Terminal{Is: true, Width: 80, Height: 24}, "terminal size", OK, "some panels at a time"},
		{Terminal{Is: true, Width: 59, Height: 40}, "terminal size", Missing, "at least 60×16"},
		{Terminal{Is: true, Colors: ""}, "colours", Missing, "TERM"},
		{Terminal{Is: true, Colors: "16 colours"}, "colours", OK, "16 colours"},
		{Terminal{Is: true}, "characters", Missing, "--ascii"},
	} {
		var r Report
		r.section("this machine").terminal(c.terminal)
		want(t, r, c.name, c.state, c.part)
	}
}

func TestGPULines(t *testing.T) {
	full := gpu.Reading{Name: "H100", Source: "nvml-gpm", SM: opt.Of(1), DRAM: opt.Of(0.5), Power: opt.Of(600), MemUsed: opt.Of(1), Temperature: opt.Of(50)}
	coarse := full
	coarse.Index, coarse.SM, coarse.DRAM, coarse.Note = 1, opt.Float{}, opt.Float{}, "profiling metrics are off"
	var r Report
	r.gpus(gpu.Status{GPUs: []gpu.Reading{full, coarse}, Source: "dcgm http://h:9400/metrics", Period: 30 * time.Second}, "auto", true)
	want(t, r, "GPU 0", OK, "H100 by nvml-gpm: all readings")
	want(t, r, "GPU 1", Missing, "without SM activity, memory bandwidth → profiling metrics are off")
	want(t, r, "interval", Missing, "every 30 s")
	r = Report{}
	r.gpus(gpu.Status{GPUs: []gpu.Reading{full}, Source: "nvml", Period: time.Second}, "auto", true)
	want(t, r, "interval", OK, "every 1 s")
	r = Report{}
	r.gpus(gpu.Status{GPUs: []gpu.Reading{full}}, "auto", true)
	want(t, r, "interval", Missing, "unchanged for 4 s")
	r = Report{}
	r.gpus(gpu.Status{Why: "no NVIDIA driver found"}, "auto", true)
	want(t, r, "readings", Missing, "no NVIDIA driver found")
}

// Of llama.cpp's figures one could be told and is not; latencies it never tells.
func TestFieldsByWhatAnEngineOffers(t *testing.T) {
	one := opt.Of(1)
	reading := engine.Reading{Engine: "llama.cpp", Running: one, Waiting: one, KVFill: one, PromptTokens: one, GenerationTokens: one, PrefixHits: one}
	status := engine.Status{Have: true, Reading: reading, Identity: engine.Identity{Kind: "llama.cpp", Name: "llama.cpp", MetricsURL: "http://h/metrics"}}
	found, lacking, never := sortedFields(status)
	for what, pair := range map[string][2]string{
		"found":   {strings.Join(found, ","), "running,waiting,KV cache fill,prefix hits,prompt tokens,generation tokens"},
		"lacking": {strings.Join(lacking, ","), "KV cache capacity"},
		"never":   {strings.Join(never, ","), "preemptions,TTFT,gap,queue time,prefill time,E2E"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", what, pair[0], pair[1])
		}
	}
	var r Report
	r.metrics(status, "")
	want(t, r, "metrics", OK, "at http://h/metrics")
	want(t, r, "not on the page", Missing, "KV cache capacity → a newer version")
	want(t, r, "never reported", OK, "not by llama.cpp")
}

// An engine without a metrics page tells what it can on another one.
func TestEngineWithoutAPage(t *testing.T) {
	s := goodServer()
	s.models = text(`{"data":[{"id":"tiny:latest","object":"model","created":1,"owned_by":"library"}]}`)
	front := http.NewServeMux()
	front.Handle("/", s)
	front.HandleFunc("/api/version", text(`{"version":"0.33.0"}`))
	front.HandleFunc("/api/ps", text(`{"models":[{"name":"tiny:latest","size":4000000000,"size_vram":1000000000,"context_length":4096}]}`))
	server := httptest.NewServer(front)
	defer server.Close()
	r := examine(t, server.URL, nil)
	want(t, r, "engine", OK, "Ollama 0.33.0")
	want(t, r, "metrics", Missing, "no metrics page")
	want(t, r, "never reported", OK, "running, waiting, KV cache fill")
	found := false
	for _, c := range r.Checks {
		found = found || c.Name == "note" && strings.Contains(c.Found, "25 % of it in GPU memory")
	}
	if !found || !r.Ready {
		t.Errorf("ready %v, no word of the GPU share in %+v", r.Ready, r.Checks)
	}
}
