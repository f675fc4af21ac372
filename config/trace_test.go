package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A trace runs until its end, under the whole cap, and what other runs are to have from a file
// or the environment does not disturb it.
func TestATraceTakesThePlaceOfALoad(t *testing.T) {
	clean(t)
	t.Setenv("SONDE_RATE", "4")
	t.Setenv("SONDE_WARMUP", "5")
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := must(t, "bench", "h:1", "--trace", file, "--speed", "2.5", "--from", "10m", "--scale", "0.5")
	if c.Trace != (Trace{file, 2.5, 10 * time.Minute, 0.5}) || c.Concurrency != 256 || c.Duration != 0 || c.Rate.To != 0 || c.Warmup != (Warmup{}) {
		t.Errorf("%+v, concurrency %d, duration %s, rate %v, warm-up %v", c.Trace, c.Concurrency, c.Duration, c.Rate, c.Warmup)
	}
	if c := must(t, "bench", "h:1", "--trace", file, "--requests", "9", "--duration", "5s", "-c", "8"); c.Concurrency != 8 || c.Duration != 5*time.Second || c.Requests != 9 {
		t.Errorf("concurrency %d, %s, %d requests", c.Concurrency, c.Duration, c.Requests)
	}
	for args, want := range map[string]string{
		"--rate 2":           "--rate 2: the trace has its own arrivals and lengths: omit one of them",
		"-i 64":              "--input 64: the trace has its own",
		"--output 64":        "--output 64: the trace has its own",
		"--workload rag":     "--workload rag: the trace has its own",
		"--turns 4":          "--turns 4: the trace has its own",
		"--arrivals gamma:2": "--arrivals gamma:2: the trace has its own",
		"--warmup 3":         "--warmup 3: a trace is measured from its first request",
		"--speed 0":          "--speed 0: must be 0.001 to 1000",
		"--scale 0":          "--scale 0: must be 0.000001 to 1000",
		"--from yesterday":   "--from yesterday: must be a time with its unit",
	} {
		out := call(append([]string{"bench", "h:1", "--trace", file}, strings.Fields(args)...)...)
		if out.code != 2 || !strings.Contains(out.stderr, want) || strings.Count(out.stderr, "\n") != 1 {
			t.Errorf("%s: %d, %q; want %q", args, out.code, out.stderr, want)
		}
	}
	for args, want := range map[string]string{
		"bench h:1 --speed 2":                       "--speed 2: is about a trace: add --trace FILE",
		"h:1 --watch --trace " + file:               "--watch sends no load",
		"bench h:1 --trace " + file + ".none":       "must be a readable file",
		"bench h:1 --nats embedded --trace " + file: "is replayed by one process: omit it, or --nats",
		"sweep h:1 --trace " + file:                 "unknown flag",
	} {
		if out := call(strings.Fields(args)...); out.code != 2 || !strings.Contains(out.stderr, want) {
			t.Errorf("%s: %d, %q; want %q", args, out.code, out.stderr, want)
		}
	}
}
