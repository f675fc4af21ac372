package probe_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/frame"
	"sonde/probe/prompt"
	"sonde/probe/sim"
)

// patience bounds every wait of this file: the machine may be busy.
const patience = 60 * time.Second

// busyEngine starts an embedded engine with that many requests in its batch, which
// last longer than the test.
func busyEngine(t *testing.T, requests int) (address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	engine, err := sim.New(sim.Options{Seed: uint64(requests), Speed: 0.25}) // 10 000 tokens take minutes
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := engine.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for range requests {
		body := `{"model":"sim/Llama-3.1-8B","stream":true,"max_tokens":10000,"ignore_eos":true,"messages":[{"role":"user","content":"go on and on"}]}`
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(resp.Body)
			t.Fatalf("HTTP %d: %s", resp.StatusCode, text)
		}
		t.Cleanup(func() { resp.Body.Close() })
		go io.Copy(io.Discard, resp.Body) // ends with ctx
	}
	return strings.TrimPrefix(base, "http://")
}

// prometheus starts a real server that scrapes engines and their GPU pages every
// second, and waits until it answers.
func prometheus(t *testing.T, targets []string) (address string) {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no prometheus in PATH")
	}
	dir := t.TempDir()
	list := `["` + strings.Join(targets, `","`) + `"]`
	config := fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
- {job_name: vllm, static_configs: [{targets: %s}]}
- {job_name: dcgm, metrics_path: /dcgm/metrics, static_configs: [{targets: %s}]}
`, list, list)
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 { // somebody may take the port meanwhile
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listen := free.Addr().String()
		free.Close()
		var said bytes.Buffer
		ctx, cancel := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			cancel()
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = cmd.Wait() }()
		t.Cleanup(func() { cancel(); <-ended })
		if ready("http://"+listen, ended) {
			return "http://" + listen
		}
		cancel()
		<-ended
		t.Logf("prometheus did not start: %s", said.String())
	}
	t.Fatal("prometheus does not start")
	return ""
}

// ready waits until a server is, and gives up when its process has ended.
func ready(address string, ended <-chan struct{}) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if resp, err := http.Get(address + "/-/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return true
			}
		}
		select {
		case <-ended:
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return false
}

// frameWith waits for a Frame; the last one says why there is none.
func frameWith(t *testing.T, s *probe.Session, what string, is func(*frame.Frame) bool) *frame.Frame {
	t.Helper()
	var last *frame.Frame
	var seq uint64
	deadline := time.After(patience)
	for {
		select {
		case _, alive := <-s.Tick():
			if !alive {
				t.Fatalf("%s: the session has ended", what)
			}
		case <-deadline:
			t.Fatalf("%s: not within %v; at last %+v, GPUs %+v", what, patience, last.Engine, last.GPU)
		}
		for _, f := range s.Since(seq) {
			if seq, last = f.Seq, f; f.Err != nil {
				t.Fatal(f.Err)
			}
			if is(f) {
				return f
			}
		}
	}
}

// Three engines with one, two and three requests, scraped by a real Prometheus: the
// Frame holds their sum, and on a wish one of them with its own GPU.
func TestAFleetScrapedByPrometheus(t *testing.T) {
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("no prometheus in PATH")
	}
	var engines []string
	for requests := 1; requests <= 3; requests++ {
		engines = append(engines, busyEngine(t, requests))
	}
	prompts, err := prompt.Open("", prompt.Unique, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := probe.New(probe.Options{
		URL: "http://" + engines[0], API: "chat", Prompts: prompts, MaxConcurrency: 1, Tick: 50 * time.Millisecond,
		Metrics: probe.FromPrometheus, GPU: probe.FromPrometheus, Prometheus: prometheus(t, engines),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Start(ctx)
	defer s.Close()
	if err := s.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	all := frameWith(t, s, "the sum", func(f *frame.Frame) bool {
		return f.Engine.Reading.Running.Or(-1) == 6 && f.Engine.Reading.TTFT.Count == 6 && f.Engine.Reading.GenerationTokensPerS.OK && len(f.GPU.GPUs) == 3
	})
	sum := 0.0
	for _, r := range all.Engine.Replicas {
		want := float64(slices.Index(engines, r.Name) + 1)
		if r.Running.Or(-1) != want || r.GPUs != 1 || !r.GenerationTokensPerS.OK || !r.KVFill.OK {
			t.Errorf("%+v, want %v running and its GPU", r, want)
		}
		sum += r.GenerationTokensPerS.V
	}
	// The sum is over the mean time between scrapes, each part over its own: they
	// differ by no more than scrapes are apart, a second at worst of the two at least.
	if rate := all.Engine.Reading.GenerationTokensPerS.V; len(all.Engine.Replicas) != 3 || rate <= 0 || sum < rate/2 || sum > rate*2 {
		t.Errorf("%d replicas with %v tokens/s, together %v", len(all.Engine.Replicas), sum, rate)
	}
	if all.GPU.Scope != (gpu.Scope{}) || all.Engine.Reading.Replica != "" {
		t.Errorf("of all: %q, GPUs %q", all.Engine.Reading.Replica, all.GPU.Scope)
	}
	s.ChooseReplica(engines[2])
	one := frameWith(t, s, "the third alone", func(f *frame.Frame) bool { return f.Engine.Reading.Replica == engines[2] })
	if r := &one.Engine.Reading; r.Running.Or(-1) != 3 || r.TTFT.Count != 3 || len(one.Engine.Replicas) != 3 {
		t.Errorf("alone: %+v", r)
	}
	if len(one.GPU.GPUs) != 1 || one.GPU.GPUs[0].Exporter != engines[2] || one.GPU.Scope != (gpu.Scope{Kind: gpu.OfReplica, Replica: engines[2]}) {
		t.Errorf("its GPU: %q %+v", one.GPU.Scope, one.GPU.GPUs)
	}
	s.ChooseReplica("")
	frameWith(t, s, "all again", func(f *frame.Frame) bool {
		return f.Engine.Reading.Replica == "" && f.Engine.Reading.Running.Or(-1) == 6 && len(f.GPU.GPUs) == 3
	})
}
