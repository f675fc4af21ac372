package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Each place says another number; the strongest of those that speak must win.
func TestPrecedenceOfEverySubset(t *testing.T) {
	for set := range 16 {
		file, profile, env, flag := set&1 > 0, set&2 > 0, set&4 > 0, set&8 > 0
		t.Run(fmt.Sprintf("file=%t,profile=%t,env=%t,flag=%t", file, profile, env, flag), func(t *testing.T) {
			path := clean(t)
			want, text, args := 1, "", []string{"bench", "host:1", "--profile", "lab"}
			if file {
				want, text = 2, "concurrency = 2\n"
			}
			text += "[profile.lab]\n"
			if profile {
				want, text = 3, text+"concurrency = 3\n"
			}
			if env {
				want = 4
				t.Setenv("SONDE_CONCURRENCY", "4")
			}
			if flag {
				want, args = 5, append(args, "-c", "5")
			}
			write(t, path, text)
			if c := must(t, args...); c.Concurrency != want {
				t.Errorf("concurrency %d, want %d", c.Concurrency, want)
			}
		})
	}
}

func TestEveryKindOfValueFromEveryPlace(t *testing.T) {
	want := func(t *testing.T, c Config) {
		t.Helper()
		if c.Rate.To != 2.5 || c.Input.Mean != 777 || c.IdleTimeout != 90*time.Second || !c.Insecure || c.Model != "m" ||
			c.Seed != 18446744073709551615 || !c.SeedSet || c.MaxTokensTotal != 5_000_000_000 || c.Warmup != (Warmup{Duration: 5 * time.Second}) ||
			len(c.Headers) != 2 || c.Headers[1] != (Header{"X-B", "b:c"}) || len(c.SLO) != 2 {
			t.Errorf("got %v", c)
		}
	}
	t.Run("flags", func(t *testing.T) {
		clean(t)
		want(t, must(t, "bench", "h:1", "--rate", "2.5", "-i777", "--idle-timeout=90s", "--insecure", "--model", "m", "--seed", "18446744073709551615",
			"--max-tokens-total", "5000000000", "--warmup", "5s", "--header", "X-A: a", "--header", "X-B: b:c", "--slo", "ttft_p95=2s,success=99"))
	})
	t.Run("environment", func(t *testing.T) {
		clean(t)
		for name, value := range map[string]string{"RATE": "2.5", "INPUT": "777", "IDLE_TIMEOUT": "90s", "INSECURE": "true", "MODEL": "m",
			"SEED": "18446744073709551615", "MAX_TOKENS_TOTAL": "5000000000", "WARMUP": "5s", "HEADER": "X-A: a\nX-B: b:c", "SLO": "ttft_p95=2s,success=99"} {
			t.Setenv("SONDE_"+name, value)
		}
		want(t, must(t, "bench", "h:1"))
	})
	t.Run("file", func(t *testing.T) {
		write(t, clean(t), `
rate = 2.5
input = 777
idle-timeout = "90s"
insecure = true
model = "m"
seed = "18446744073709551615"
max-tokens-total = 5_000_000_000
warmup = "5s"
header = ["X-A: a", "X-B: b:c"]
slo = "ttft_p95=2s,success=99"
[sim]
`)
		want(t, must(t, "bench", "h:1"))
	})
}

func TestAddressFromTheEnvironment(t *testing.T) {
	path := clean(t)
	write(t, path, "url = 'file:1'\n[profile.lab]\nurl = 'lab:1'\n[profile.bare]\nmodel = 'm'\n")
	expect := func(want string, args ...string) {
		t.Helper()
		if c := must(t, args...); c.URL != want {
			t.Errorf("%q: URL %q, want %q", args, c.URL, want)
		}
	}
	expect("http://file:1", "bench")
	t.Setenv("OPENAI_BASE_URL", "https://openai:1/v1")
	expect("https://openai:1/v1")
	expect("https://openai:1/v1", "bench")
	expect("https://openai:1/v1", "@bare")
	expect("http://lab:1", "@lab") // named on purpose
	expect("http://arg:1", "bench", "arg:1")
	t.Setenv("SONDE_URL", "ours:1")
	expect("http://ours:1", "@lab")
	expect("http://arg:1", "arg:1")
	t.Setenv("SONDE_PROFILE", "nope")
	expect("http://ours:1", "@lab")
}

func TestKey(t *testing.T) {
	path := clean(t)
	write(t, path, `
api-key = "of-file"
[profile.lab]
api-key-env = "LAB_KEY"
[profile.plain]
api-key = "of-profile"
`)
	expect := func(want, from string, args ...string) {
		t.Helper()
		if c := must(t, append([]string{"bench", "h:1"}, args...)...); c.APIKey != want || c.KeyFrom != from {
			t.Errorf("%q: key %q from %s, want %q from %s", args, c.APIKey, c.KeyFrom, want, from)
		}
	}
	expect("of-file", "the file "+path)
	t.Setenv("OPENAI_API_KEY", " of-openai\n")
	expect("of-openai", "the variable OPENAI_API_KEY")
	expect("of-profile", "[profile.plain] of "+path, "--profile", "plain")
	expect("of-flag", "--api-key", "--profile", "lab", "--api-key", "of-flag")
	if line := refused(t, "bench", "h:1", "--profile", "lab"); !strings.HasSuffix(line, "profile.lab.api-key-env = LAB_KEY: the environment variable LAB_KEY is not set") {
		t.Errorf("got %q", line)
	}
	t.Setenv("LAB_KEY", "of-lab")
	expect("of-lab", "the variable LAB_KEY", "--profile", "lab")
	t.Setenv("SONDE_API_KEY", "of-sonde")
	expect("of-sonde", "the variable SONDE_API_KEY", "--profile", "lab")
	expect("of-lab", "the variable LAB_KEY", "--api-key-env", "LAB_KEY")
}

func TestFileOfSettings(t *testing.T) {
	path := clean(t)
	if c := must(t); c.File != path { // the default one may be missing
		t.Errorf("file %q, want %q", c.File, path)
	}
	other := t.TempDir() + "/other.toml"
	if line := refused(t, "--config", other); !strings.Contains(line, other+": no such file") {
		t.Errorf("got %q", line)
	}
	write(t, other, "input = 9\nrequests = 4\n[sim]\nmodel = 'small'\n")
	t.Setenv("SONDE_CONFIG", other)
	if c := must(t); c.Input.Mean != 9 || c.File != other || c.Sim.Model != "small" || c.Model != "" {
		t.Errorf("got %v", c)
	}
	if c := must(t); c.Requests != 0 {
		t.Error("the live screen took a setting of bench")
	}
	write(t, path, "input = 10\n")
	if c := must(t, "--config", path); c.Input.Mean != 10 {
		t.Errorf("got %v", c)
	}
}
