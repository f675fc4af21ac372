package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCanaryTargets(t *testing.T) {
	file := clean(t)
	write(t, file, `canary.every = "30s"
[profile.lab]
url = "http://lab:8000"
model = "qwen"
api-key-env = "LAB_KEY"
canary.budget = "20k/h"
[profile.edge]
url = "https://edge/v1"
header = ["X-Team: blue"]
canary.every = "1m"
canary.slo = "ttft_p95=1s"
`)
	t.Setenv("LAB_KEY", "sk-lab-key-0001")
	list := filepath.Join(t.TempDir(), "fleet.txt")
	write(t, list, "# the fleet\n\ngpu-1:8000\n  gpu-2:8000#llama \n@lab#mistral\n")
	c := must(t, "canary", "@lab", "@edge", "http://user:password1@gpu-0:8000", "--targets", list, "-o", "8", "--listen", "9898")
	type got struct {
		name, url, model, key string
		every                 time.Duration
		budget                float64
		slos, headers         int
	}
	want := []got{
		{"@lab", "http://lab:8000", "qwen", "sk-lab-key-0001", 30 * time.Second, 20_000, 0, 0},
		{"@edge", "https://edge/v1", "", "", time.Minute, 0, 1, 1},
		{"gpu-0:8000", "http://user:password1@gpu-0:8000", "", "", 30 * time.Second, 0, 0, 0},
		{"gpu-1:8000", "http://gpu-1:8000", "", "", 30 * time.Second, 0, 0, 0},
		{"gpu-2:8000", "http://gpu-2:8000", "llama", "", 30 * time.Second, 0, 0, 0},
		{"@lab", "http://lab:8000", "mistral", "sk-lab-key-0001", 30 * time.Second, 20_000, 0, 0},
	}
	if len(c.Canary.Each) != len(want) {
		t.Fatalf("%d targets, want %d", len(c.Canary.Each), len(want))
	}
	for i, one := range c.Canary.Each {
		k := one.Canary
		if have := (got{k.Name, one.URL, one.Model, one.APIKey, k.Every, k.Budget, len(k.SLO), len(one.Headers)}); have != want[i] {
			t.Errorf("target %d: %+v, want %+v", i+1, have, want[i])
		}
		if k.Output != 8 || k.Input != 16 {
			t.Errorf("target %d: %d + %d tokens", i+1, k.Input, k.Output)
		}
	}
	if c.Listen != "127.0.0.1:9898" {
		t.Errorf("listens on %q", c.Listen)
	}
	if text := c.String(); strings.Contains(text, "sk-lab") || strings.Contains(text, "password1") || strings.Contains(text, "blue") {
		t.Errorf("a secret in %s", text)
	}
}

func TestCanaryOfTheURLInTheSettings(t *testing.T) {
	file := clean(t)
	if c := must(t, "canary"); len(c.Canary.Each) != 0 {
		t.Errorf("%d targets out of nowhere", len(c.Canary.Each))
	}
	write(t, file, "url = \"gpu:8000\"\n")
	if c := must(t, "canary"); len(c.Canary.Each) != 1 || c.Canary.Each[0].URL != "http://gpu:8000" || c.Canary.Each[0].Canary.Name != "gpu:8000" {
		t.Errorf("%+v", c.Canary.Each)
	}
	if c := must(t, "canary", "other:1"); len(c.Canary.Each) != 1 || c.Canary.Each[0].URL != "http://other:1" {
		t.Errorf("%+v", c.Canary.Each)
	}
}

// OPENAI_API_KEY belongs to one service: several hosts do not see it unless they name it.
func TestTheSharedKeyStaysWithItsHost(t *testing.T) {
	file := clean(t)
	t.Setenv("OPENAI_API_KEY", "sk-shared-0001")
	write(t, file, "[profile.openai]\nurl = \"https://api.example/v1\"\napi-key-env = \"OPENAI_API_KEY\"\n")
	keys := func(args ...string) (keys []string, stderr string) {
		o := call(append([]string{"canary"}, args...)...)
		for _, one := range o.config.Canary.Each {
			keys = append(keys, one.APIKey)
		}
		return keys, o.stderr
	}
	if got, warning := keys("h:1#a", "h:1#b"); strings.Join(got, ",") != "sk-shared-0001,sk-shared-0001" || warning != "" {
		t.Errorf("one host: %q, %q", got, warning)
	}
	if got, warning := keys("h:1", "i:1", "@openai"); strings.Join(got, ",") != ",,sk-shared-0001" || !strings.Contains(warning, "OPENAI_API_KEY is only sent") {
		t.Errorf("two hosts: %q, %q", got, warning)
	}
	if got, _ := keys("h:1", "i:1", "--api-key", "sk-given-0001"); strings.Join(got, ",") != "sk-given-0001,sk-given-0001" {
		t.Errorf("given: %q", got)
	}
}

func TestCanaryRefuses(t *testing.T) {
	file := clean(t)
	write(t, file, "[profile.empty]\nmodel = \"m\"\n")
	for args, want := range map[string]string{
		"h:1 h:1":                 "target 2: is given twice: omit one of them",
		"h:1 @nobody":             "target 2: no [profile.nobody] in " + file + ": it has empty",
		"@empty":                  "[profile.empty] of " + file + " has no url",
		"h:1 @":                   "target 2: must be URL or @PROFILE, or either with #MODEL",
		"h:1/\xff":                "URL h:1/: must be UTF-8 text",
		"h:1#m\xff":               "--model m: must be UTF-8 text",
		"#m":                      "must be URL or @PROFILE, or either with #MODEL",
		"h:1 ftp://user:secret@x": "target 2: URL: must be an http:// or https:// address",
		"h:1 --every 100ms":       "--every 100ms: must be 1s to 24h",
		"h:1 --budget 20/h":       "--budget 20: must have room for a probe of 32 tokens: raise it, or lower --input and --output",
		"h:1 --budget lots":       "--budget lots: must be tokens an hour such as 20k/h, or 500k/day",
		"h:1 --once --listen 1":   "--listen 127.0.0.1:1: has nothing to serve with --once: omit one of them",
		"h:1 --probe-any":         "--probe-any true: is about the page /probe: add --listen 9898",
		"h:1 --listen nine":       "--listen nine: must be a port such as 9898, for this machine only, or host:port; :9898 is open to every host",
		"h:1 --targets nowhere":   "--targets nowhere: must be a readable file: no such file or directory",
	} {
		if got := refused(t, append([]string{"canary"}, strings.Fields(args)...)...); got != want {
			t.Errorf("%s: %q\nwant %q", args, got, want)
		}
	}
}

func TestBudgets(t *testing.T) {
	for text, want := range map[string]float64{"20k": 20_000, "20k/h": 20_000, "240k/day": 10_000, "10/min": 600, "0": 0} {
		if got, err := parsePerHour(text); err != nil || got != want {
			t.Errorf("%s: %v %v, want %v", text, got, err, want)
		}
	}
}
