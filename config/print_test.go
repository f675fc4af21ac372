package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// What --print-config writes, read back as a file, is the same Config.
func TestPrintConfigRoundTrip(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"--watch"},
		{"h:1", "-c", "7", "--seed", "18446744073709551615", "--ascii", "--color", "never"},
		{"https://h/openai?api-version=2024-06-01", "--model", `a "b" \ 'c' é`, "--rate", "0.25", "--seed", "0"},
		{"bench"},
		{"bench", "h:1", "--requests", "9", "--warmup", "5", "--slo", "ttft_p95=2s, e2e_p999=60s,success=99.9"},
		{"bench", "h:1", "--workload", "rag", "-o", "77", "--duration", "90s", "--warmup", "5s", "--format", "md", "--idle-timeout", "250ms"},
		{"bench", "::1", "--metrics", "off", "--gpu", "h:9400", "--max-tokens-total", "123456789012", "--insecure", "--prefix", "same"},
		{"sim", "--listen", "[::1]:0", "--model", "m", "--kv-gb", "1.5", "--speed", "0.5", "--max-seqs", "3"},
		{"bench", "@lab"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			path := clean(t)
			t.Setenv("LAB_KEY", "sk-lab")
			write(t, path, "max-concurrency = 99\n[profile.lab]\nurl = 'lab:1'\napi-key-env = 'LAB_KEY'\nsim.speed = 2\n")
			want := must(t, args...)
			printed := call(append(slices.Clone(args), "--print-config")...)
			if printed.code != 0 || printed.command != "" {
				t.Fatalf("code %d, ran %q, stderr %q", printed.code, printed.command, printed.stderr)
			}
			if err := toml.Unmarshal([]byte(printed.stdout), new(map[string]any)); err != nil {
				t.Fatalf("no TOML: %v\n%s", err, printed.stdout)
			}
			write(t, path, printed.stdout)
			command := slices.DeleteFunc(slices.Clone(args[:min(1, len(args))]), func(s string) bool { return s != "bench" && s != "sim" })
			got := must(t, command...)
			want.Profile = "" // its settings are the file's own now
			if !reflect.DeepEqual(got, want) {
				t.Errorf("read back\ngot  %v\nwant %v\nfrom\n%s", got, want, printed.stdout)
			}
		})
	}
}

func TestPrintConfigTellsWhereFrom(t *testing.T) {
	path := clean(t)
	write(t, path, "output = 5\n[profile.lab]\nmodel = 'm'\n")
	t.Setenv("SONDE_RATE", "3")
	out := call("bench", "@lab", "--seed", "7", "--print-config").stdout
	for _, want := range []string{
		"output = 5 # file;", "model = 'm' # profile lab;", "rate = 3.0 # env SONDE_RATE;", "seed = 7 # flag;", "input = 256 # workload chat;",
		"concurrency = 256 # max-concurrency;", "prefix = 'unique' # default;", "# url = '' # default;", "# File: " + path,
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// Every setting of every command is printed, so that the file documents itself.
func TestPrintConfigIsComplete(t *testing.T) {
	clean(t)
	for _, c := range commands {
		out := call(append(strings.Fields(c.name), "--print-config")...).stdout
		for _, s := range c.settings(&Config{}) {
			shown := strings.Contains(out, "\n"+s.key+" = ") || strings.Contains(out, "\n# "+s.key+" = ")
			if shown == s.noFile {
				t.Errorf("sonde %s: %s shown: %t", c.name, s.key, shown)
			}
		}
	}
}

// An address that is not shown whole must not be read back as one.
func TestPrintConfigCommentsMaskedAddressesOut(t *testing.T) {
	clean(t)
	out := call("u:p@h:1?project=p", "--metrics", "h:2/metrics?k=1", "--gpu", "h:3?format=text", "--prometheus", "u@h:4", "--print-config").stdout
	for _, want := range []string{
		"\n# url = 'http://h:1?project=…' ", "\n# metrics = 'http://h:2/metrics?k=…' ",
		"\ngpu = 'http://h:3?format=text' ", "\n# prometheus = 'http://h:4' ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}
