package config

import (
	"strings"
	"testing"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/length"
	"sonde/probe/sim"
)

func TestDefaults(t *testing.T) {
	clean(t)
	want := Config{APIKeyEnv: "OPENAI_API_KEY", API: "chat", Concurrency: 1, Arrivals: arrivals.Poisson, Input: length.Length{Mean: 256}, Output: length.Length{Mean: 128}, Workload: "chat", Turns: 1, Prefix: "unique", Trace: Trace{Speed: 1, Scale: 1},
		IdleTimeout: time.Minute, MaxConcurrency: 256, Workers: Workers{Run: "sonde", Min: 1}, GPU: "auto", Color: "auto", Sim: Sim{Options: sim.Options{Speed: 1}}, File: defaultFile()}
	url := want
	url.URL = "http://h:1"
	if c := must(t, url.URL); c.String() != url.String() {
		t.Errorf("live\ngot  %v\nwant %v", c, url)
	}
	demonstrated := want
	demonstrated.Input.Mean, demonstrated.Output.Mean, demonstrated.Sim.KVGB = 8192, 512, 16
	if c := must(t); c.String() != demonstrated.String() {
		t.Errorf("live, on the embedded engine\ngot  %v\nwant %v", c, demonstrated)
	}
	want.Duration = 30 * time.Second
	if c := must(t, "bench"); c.String() != want.String() {
		t.Errorf("bench\ngot  %v\nwant %v", c, want)
	}
	want = Config{Sim: Sim{Options: sim.Options{Speed: 1}, Listen: "127.0.0.1:8000"}, File: defaultFile()}
	if c := must(t, "sim"); c.String() != want.String() {
		t.Errorf("sim\ngot  %v\nwant %v", c, want)
	}
}

func TestLengthsOfTheWorkload(t *testing.T) {
	path := clean(t)
	expect := func(input, output int, args ...string) {
		t.Helper()
		if c := must(t, args...); c.Input.Mean != input || c.Output.Mean != output {
			t.Errorf("%q: %d and %d tokens, want %d and %d", args, c.Input.Mean, c.Output.Mean, input, output)
		}
	}
	expect(8192, 512)
	expect(8192, 7, "-o", "7")
	for _, machine := range [][]string{{"SONDE_SIM_MODEL", "Qwen2.5-7B"}, {"SONDE_SIM_KV_GB", "4"}} {
		t.Setenv(machine[0], machine[1])
		if c := must(t); c.Sim.KVGB == demonstration.kvGB {
			t.Errorf("%s: the demonstration's KV cache", machine[0])
		}
		t.Setenv(machine[0], "")
	}
	expect(256, 128, "--workload", "chat")
	expect(4096, 256, "--workload", "rag")
	expect(4096, 7, "--workload", "rag", "-o", "7")
	write(t, path, "input = 5\noutput = 6\n")
	expect(5, 6)
	expect(4096, 256, "--workload", "rag") // the command line is stronger than the file
	expect(4096, 6, "--workload", "rag", "-o", "6")
	write(t, path, "workload = 'rag'\ninput = 5\n")
	expect(5, 256)
	t.Setenv("SONDE_OUTPUT", "8")
	expect(5, 8)
}

func TestAmountOfBench(t *testing.T) {
	path := clean(t)
	expect := func(requests int, duration time.Duration, args ...string) {
		t.Helper()
		if c := must(t, append([]string{"bench"}, args...)...); c.Requests != requests || c.Duration != duration {
			t.Errorf("%q: %d requests, %v, want %d, %v", args, c.Requests, c.Duration, requests, duration)
		}
	}
	expect(0, 30*time.Second)
	expect(9, 0, "--requests", "9")
	expect(9, 5*time.Second, "--requests", "9", "--duration", "5s")
	write(t, path, "duration = '7s'\n")
	expect(9, 7*time.Second, "--requests", "9")
	if line := refused(t, "bench", "--duration", "0s"); !strings.Contains(line, "never end") {
		t.Errorf("got %q", line)
	}
	if c := must(t, "bench", "--warmup", "5"); c.Warmup != (Warmup{Requests: 5}) {
		t.Errorf("warm-up %+v", c.Warmup)
	}
}

func TestConcurrencyThatFollows(t *testing.T) {
	path := clean(t)
	if c := must(t, "--watch"); c.Concurrency != 0 || !c.Watch {
		t.Errorf("watching: concurrency %d", c.Concurrency)
	}
	if c := must(t, "--watch", "-c", "0"); c.Concurrency != 0 {
		t.Errorf("watching: concurrency %d", c.Concurrency)
	}
	for _, load := range [][]string{{"-c", "2"}, {"--rate", "2"}} {
		if line := refused(t, append(load, "--watch")...); !strings.Contains(line, "--watch sends no load") {
			t.Errorf("got %q", line)
		}
	}
	write(t, path, "concurrency = 8\n")
	if c := must(t, "--watch"); c.Concurrency != 0 {
		t.Errorf("watching: concurrency %d, want the file's to give way", c.Concurrency)
	}
	if c := must(t, "--rate", "3"); c.Concurrency != 8 {
		t.Errorf("open loop: cap %d, want the file's 8", c.Concurrency)
	}
	write(t, path, "")
	if c := must(t, "--rate", "3", "--max-concurrency", "40"); c.Concurrency != 40 {
		t.Errorf("open loop: cap %d, want 40", c.Concurrency)
	}
}
