package config

import (
	"strings"
	"testing"
)

// The second endpoint has a target of its own, and everything else of the first one.
func TestTwoEndpoints(t *testing.T) {
	file := clean(t)
	write(t, file, `[profile.old]
url = "http://old:8000"
model = "qwen"
api-key-env = "OLD_KEY"
concurrency = 8
[profile.new]
url = "http://new:8000"
concurrency = 3
`)
	t.Setenv("OLD_KEY", "sk-old-key-0001")
	c := must(t, "@old", "@new", "-o", "64", "--record", "run.jsonl")
	b := c.Beside
	if c.URL != "http://old:8000" || c.Model != "qwen" || c.APIKey != "sk-old-key-0001" || c.Concurrency != 8 || c.Record != "run.jsonl" {
		t.Errorf("first: %q %q %q %d %q", c.URL, c.Model, c.APIKey, c.Concurrency, c.Record)
	}
	if b == nil || b.URL != "http://new:8000" || b.Model != "" || b.APIKey != "" || b.Concurrency != 8 || b.Output.Mean != 64 || b.Record != "" {
		t.Fatalf("second: %+v", b)
	}
	t.Setenv("OPENAI_API_KEY", "sk-openai-0001")
	c = must(t, "a:8000#x", "a:8000#y", "--metrics", "http://a:9000/metrics")
	if c.Model != "x" || c.Beside.Model != "y" || c.Metrics == "" || c.Beside.Metrics != "" || c.APIKey == "" || c.Beside.APIKey == "" {
		t.Errorf("one host, two models: %q %q, metrics %q %q", c.Model, c.Beside.Model, c.Metrics, c.Beside.Metrics)
	}
	if o := call("a:8000", "b:8000"); !strings.Contains(o.stderr, "OPENAI_API_KEY is only sent to those that name it") {
		t.Errorf("the key of one service goes to two hosts: %q", o.stderr)
	}
}

func TestTwoEndpointsRefused(t *testing.T) {
	write(t, clean(t), "[profile.old]\nurl = \"http://old:8000\"\n")
	for args, want := range map[string]string{
		"a:8000 a:8000":                     "both endpoints are the same",
		"@old b:8000":                       "two URLs or two profiles",
		"a:8000 b:8000 c:8000":              "got 3",
		"a:8000 b:8000 --nats embedded":     "two endpoints",
		"a:8000 b:8000 --against go.mod":    "",
		"bench a:8000 b:8000 -c 1":          "expected one",
		"a:8000 http://user:pw@b:8000/#m x": "",
	} {
		o := call(strings.Fields(args)...)
		if o.code != 2 || !strings.Contains(o.stderr, want) || strings.Count(o.stderr, "\n") != 1 || strings.Contains(o.stderr, "pw") {
			t.Errorf("%s: code %d, %q", args, o.code, o.stderr)
		}
	}
}
