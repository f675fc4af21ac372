package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/config"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/record"
	"sonde/probe/sim"
	"sonde/probe/slo"
)

// asked is a small Config on the embedded engine.
func asked() config.Config {
	return config.Config{
		API: "chat", Concurrency: 2, MaxConcurrency: 8, Input: length.Length{Mean: 50}, Output: length.Length{Mean: 5}, Prefix: "unique",
		IdleTimeout: 5 * time.Second, GPU: "off", Seed: 7, SeedSet: true, Sim: config.Sim{Options: sim.Options{Speed: 20}},
	}
}

func TestFromConfigToARecordedMeasurement(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c := asked()
	c.Record = filepath.Join(t.TempDir(), "run.jsonl")
	c.SLO = []slo.Target{{Metric: "ttft", Quantile: 0.95, LimitMS: 2000, Text: "ttft_p95=2s"}}
	m, err := Open(ctx, c, "test")
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Plan; p.Load.Concurrency != 2 || p.Seed != 7 || p.SLOs[0].LimitMS != 2000 || p.DrainFor != c.IdleTimeout {
		t.Errorf("plan %+v", p)
	}
	done := make(chan struct{})
	enough := sync.OnceFunc(func() { close(done) })
	seen := 0
	m.Follow(func(f *frame.Frame) {
		if seen += len(f.Requests); seen >= 4 {
			enough()
		}
	})
	if err := <-m.Connect(ctx, m.Session.Begin); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatal("no request ended")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	file, err := os.Open(c.Record)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	header, frames, err := record.Read(file)
	if err != nil || header.Seed != 7 || header.Version != "test" || len(frames) == 0 {
		t.Errorf("recording: header %+v, %d frames, %v", header, len(frames), err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	checkReport(t, c.Record, frames)
}

// checkReport compares the report of a recording with the requests in it.
func checkReport(t *testing.T, path string, frames []*frame.Frame) {
	t.Helper()
	r, err := OpenRecording(t.Context(), config.Config{Replay: config.Replay{File: path, Speed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	levels, err := r.Levels(t.Context())
	ok := 0
	for _, f := range frames {
		for i := range f.Requests {
			if r := &f.Requests[i]; r.Error == "" && r.OutTokens > 0 {
				ok++
			}
		}
	}
	if err != nil || len(levels.Levels) != 1 || levels.Levels[0].Level.OK != ok || levels.Plan.Seed != 7 {
		t.Errorf("%v: %d levels of %d requests, %+v", err, len(levels.Levels), ok, levels.Levels)
	}
}

func TestWhatCannotBeUsedIsWrongUsage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		change func(*config.Config)
		says   string
	}{
		"no CA":             {func(c *config.Config) { c.CA = filepath.Join(dir, "none.pem") }, "--ca"},
		"no prompt file":    {func(c *config.Config) { c.Prompts = filepath.Join(dir, "none.txt") }, "--prompts"},
		"a broken line":     {func(c *config.Config) { c.Prompts = write("p.jsonl", "{\"prompt\":\n") }, "line 1"},
		"a taken recording": {func(c *config.Config) { c.Record = write("taken.jsonl", "x") }, "--record"},
		"an unknown GPU":    {func(c *config.Config) { c.Sim.GPU = "abacus" }, "abacus"},
		"an unknown fault":  {func(c *config.Config) { c.Sim.Inject = "gremlins=1" }, "gremlins"},
		"an unknown model":  {func(c *config.Config) { c.Roofline = "Foo@Bar" }, "--roofline"},
		"messages as a text": {func(c *config.Config) {
			c.API = "completions"
			c.Prompts = write("m.jsonl", `{"messages":[{"role":"user","content":"x"}]}`)
		}, "chat endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			asked := asked()
			c.change(&asked)
			_, err := Open(ctx, asked, "test")
			var exit *config.ExitError
			if !errors.As(err, &exit) || exit.Code != 2 || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want code 2 and %q", err, c.says)
			}
		})
	}
}

func TestConnectTellsItsError(t *testing.T) {
	c := asked()
	c.URL = "http://127.0.0.1:1"
	m, err := Open(context.Background(), c, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := <-m.Connect(context.Background(), func() { t.Error("the load began") }); err == nil {
		t.Error("no error")
	}
}

func TestPanicWhileConnectingIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m, err := Open(ctx, asked(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := <-m.Connect(ctx, func() { panic("oh") }); err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("error %v", err)
	}
}
