package config

import (
	"os"
	"strings"
	"testing"
)

func TestBadInputIsOneLineWithAWayOut(t *testing.T) {
	clean(t)
	dir := t.TempDir()
	taken := dir + "/run.jsonl"
	write(t, taken, "{}")
	for _, c := range []struct{ args, want string }{
		{"-c -1", "--concurrency -1: must be 0 to 256 (raise --max-concurrency for more)"},
		{"-c 300", "--concurrency 300: must be 0 to 256 (raise --max-concurrency for more)"},
		{"-c two", "--concurrency two: must be a whole number such as 8"},
		{"-c 2.5", "--concurrency 2.5: must be a whole number such as 8"},
		{"-c", "--concurrency needs a value: --concurrency N"},
		{"bench -c 0", "--concurrency 0: must be at least 1: sonde bench needs load"},
		{"--max-concurrency 0", "--max-concurrency 0: must be 1 to 100000"},
		{"--rate NaN", "--rate NaN: must be requests per second such as 2.5, or a ramp such as 1..20/10m"},
		{"--rate +Inf", "--rate +Inf: must be requests per second such as 2.5, or a ramp such as 1..20/10m"},
		{"--rate 1..20", "--rate 1..20: must ramp over a time, such as 1..20/10m"},
		{"--rate 20..0/1m", "--rate 20..0/1m: must end above 0: the load stays at the end of the ramp"},
		{"sweep --rate 1..20/10m", "--rate 1..20/10m: a sweep steps by itself: give the rate that it begins with, or --levels 1/s,2/s"},
		{"bench --rate 1..20/10m --warmup 5s", "--warmup 5s: a ramp begins with the first request: omit one of them"},
		{"--rate -1", "--rate -1: must be 0 to 100000"},
		{"--workload raag", "--workload raag: must be chat, rag, agent, summarize, code, prefill or decode: did you mean 'rag'?"},
		{"--api responses", "--api responses: must be chat or completions"},
		{"--prefix none", "--prefix none: must be unique, shared or same"},
		{"--turns 0", "--turns 0: must be 1 to 1000"},
		{"bench --turns 8 --api completions", "--turns 8: needs the chat API: drop --api completions, which has no messages"},
		{"--think 2s", "--think 2s: is the pause between the turns of a conversation: add --turns 8"},
		{"--turns 8 --think 2h", "--think 2h0m0s: must be 0s to 1h"},
		{"--arrivals x", "--arrivals x: must be poisson, constant or gamma:CV with a CV up to 20, such as gamma:2 for bursts"},
		{"bench --format xml", "--format xml: must be table, json, csv, md or vllm"},
		{"bench --duration 30", "--duration 30: must be a time with its unit, such as 30s, 5m or 250ms"},
		{"bench --warmup soon", "--warmup soon: must be a number of requests such as 5, or a time such as 5s"},
		{"bench --warmup -1s", "--warmup -1s: must not be negative"},
		{"--idle-timeout 0s", "--idle-timeout 0s: must be longer than 0, such as 60s"},
		{"--seed -1", "--seed -1: must be a whole number of at least 0, such as 7"},
		{"--concurency 3", "unknown flag --concurency: did you mean '--concurrency'?"},
		{"--nonsense=secret", "unknown flag --nonsense (--help-all lists every flag)"},
		{"-zsecret", "unknown flag -z (--help-all lists every flag)"},
		{"--watch=maybe", "--watch maybe: must be true or false"},
		{"--help-all=maybe", "--help-all must be true or false"},
		{"--metrics ftp://x", "--metrics ftp://x: must be an http:// or https:// address"},
		{"--gpu nvlm", "--gpu nvlm: must be auto, nvml, off, ssh, ssh://[user@]host[:port] or an exporter's address such as http://host:9400/metrics"},
		{"--roofline Llama-3.1-8B", "--roofline Llama-3.1-8B: must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100"},
		{"--roofline @H100", "--roofline: must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100"},
		{"bench --roofline a/b@c/config.json@", "--roofline: must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100"},
		{"--ca " + dir + "/none", "--ca " + dir + "/none: must be a readable file: no such file or directory"},
		{"--prompts " + dir, "--prompts " + dir + ": must be a file, not a directory"},
		{"--record " + taken, "--record " + taken + ": already exists: choose another name or move it"},
		{"--record " + dir, "--record " + dir + ": must be a file, not a directory"},
		{"bench --out " + dir + "/a/b", "--out " + dir + "/a/b: must be in an existing directory"},
		{"bench --out x --record x", "--out x: must differ from the --record file"},
		{"--header Authorization", "--header: must look like 'Name: value'"},
		{"sweep --levels 1,2,x", "--levels 1,2,x: must be levels such as 1,4,8 streams or 1/s,2/s requests per second, or auto"},
		{"sweep --levels 0", "--levels 0: must be levels such as 1,4,8 streams or 1/s,2/s requests per second, or auto"},
		{"sweep --levels 1,2/s", "--levels 1,2/s: must be all streams (1,4,8) or all rates (1/s,4/s)"},
		{"sweep --levels 1.5", "--levels 1.5: must have whole numbers of streams; a rate is written 2.5/s"},
		{"sweep --levels 8,512", "--levels 8,512: must be at most 256 streams (raise --max-concurrency for more)"},
		{"sweep --levels 1/s,2/s --rate 2", "--rate 2: sets where --levels auto starts: omit it, or write levels as 1/s,2/s"},
		{"sweep --per-level -1s", "--per-level -1s: must not be negative"},
		{"sweep -c 0", "--concurrency 0: must be at least 1: sonde sweep needs load"},
		{"sweep --out x --record x", "--out x: must differ from the --record file"},
		{"sim x", "sim takes flags only, no arguments (sonde sim --help)"},
		{"sim --listen 8000", "--listen 8000: must be host:port, such as 127.0.0.1:8000 or [::1]:8000"},
		{"sim --speed 0", "--speed 0: must be 0.001 to 1000"},
		{"bench a:1 b:1", "expected one URL, got 2 (flags start with dashes: sonde bench --help)"},
		{"bnech", "unknown command 'bnech': did you mean 'bench'? (to use a host of that name: http://bnech)"},
		{"bnech h:1", "unknown command 'bnech': did you mean 'bench'? (to use a host of that name: http://bnech)"},
		{"h:1 --gpu ssh://me:secret@h", "--gpu: must not hold a password: ssh logs in with a key or its agent"},
		{"h:1 --gpu ssh://", "--gpu ssh://: must be ssh://[user@]host[:port]"},
		{"h:1 --gpu ssh://h:0", "--gpu ssh://h:0: must have a port from 1 to 65535"},
		{"h:1 --gpu ssh://-oProxyCommand=x", "--gpu: must be ssh://[user@]host[:port]"},
		{"h:1 --gpu ssh://h/path", "--gpu ssh://h/path: must end after the host or its port"},
		{"@", "@ needs the name of a profile, such as @lab for [profile.lab]"},
		{"@a --profile b", "@a and --profile name different profiles: omit one of them"},
		{"help nope", "no such command: sonde --help lists them"},
		{"completion tcsh", "completion supports bash, zsh, fish and powershell"},
	} {
		if got := refused(t, strings.Fields(c.args)...); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.args, got, c.want)
		}
	}
}

func TestControlCharactersStayOffTheTerminal(t *testing.T) {
	clean(t)
	if line := refused(t, "--workload", "\x1b[31mred\u009b0m\nx"); strings.ContainsAny(line, "\x1b\n\u009b") {
		t.Errorf("got %q", line)
	}
}

func TestUnknownNames(t *testing.T) {
	path := clean(t)
	for text, want := range map[string]string{
		"concurency = 3":                "unknown key 'concurency' in FILE: did you mean 'concurrency'?",
		"max_concurrency = 3":           "unknown key 'max_concurrency' in FILE: did you mean 'max-concurrency'?",
		"colour = 'never'":              "unknown key 'colour' in FILE: did you mean 'color'?",
		"[load]\nrate = 3":              "unknown key 'load.rate' in FILE",
		"[sim]\nmodle = 'x'":            "unknown key 'sim.modle' in FILE: did you mean 'sim.model'?",
		"sim = 3":                       "unknown key 'sim' in FILE",
		"config = 'x'":                  "unknown key 'config' in FILE",
		"[profile.lab]\ntoken = 'x'":    "unknown key 'profile.lab.token' in FILE",
		"[profile.lab]\nurll = 'x'":     "unknown key 'profile.lab.urll' in FILE: did you mean 'url'?",
		"profile = 'lab'":               "FILE: profile: must be tables such as [profile.lab]",
		"profile.lab = 'x'":             "FILE: profile.lab: must be a table such as [profile.lab]",
		"input = 3\ninput = 4":          "FILE: key input is already defined",
		"input = ":                      "FILE:1:",
		"concurrency = 'four'":          "FILE: concurrency = four: must be a whole number such as 8",
		"concurrency = '4'":             "FILE: concurrency = 4: must be a whole number such as 8",
		"concurrency = 4.5":             "FILE: concurrency = 4.5: must be a whole number such as 8",
		"concurrency = -4":              "FILE: concurrency = -4: must be 0 to 256 (raise --max-concurrency for more)",
		"idle-timeout = 30":             "FILE: idle-timeout = 30: must be a time with its unit",
		"model = 3":                     "FILE: model = 3: must be text in quotes",
		"watch = 'yes'":                 "FILE: watch = yes: must be true or false",
		"header = [1]":                  "FILE: header: must look like 'Name: value'",
		"requests = 'x'":                "FILE: requests = x: must be a whole number", // of another command
		"rate = nan":                    "FILE: rate = NaN: must be requests per second such as 2.5, or a ramp such as 1..20/10m",
		"seed = 1979-05-27":             "FILE: seed = 1979-05-27: must be a whole number",
		"[profile.lab]\nconcurrency={}": "", // an empty table is nothing
	} {
		write(t, path, text)
		if want == "" {
			must(t)
			continue
		}
		want = strings.ReplaceAll(want, "FILE", path)
		if got := refused(t); !strings.HasPrefix(got, want) || strings.HasSuffix(got, "?") && !strings.HasSuffix(want, "?") {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestUnknownProfile(t *testing.T) {
	path := clean(t)
	if got, want := refused(t, "@lab"), "no [profile.lab] in "+path+": it has no profiles"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	write(t, path, "[profile.b]\nconcurrency = 'x'\n[profile.a]\n")
	if got, want := refused(t, "@lab"), "no [profile.lab] in "+path+": it has a, b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := refused(t, "@b"), path+": profile.b.concurrency = x: must be a whole number such as 8"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVariables(t *testing.T) {
	clean(t)
	t.Setenv("SONDE_MODEL", "") // as if not set
	must(t)
	t.Setenv("SONDE_CONCURRENCY", "-2")
	if got, want := refused(t), "SONDE_CONCURRENCY -2: must be 0 to 256 (raise --max-concurrency for more)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	t.Setenv("SONDE_CONCURENCY", "2")
	if got, want := refused(t), "unknown environment variable 'SONDE_CONCURENCY': did you mean 'SONDE_CONCURRENCY'?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	os.Unsetenv("SONDE_CONCURENCY")
	t.Setenv("SONDE_XYZZY", "2")
	if got, want := refused(t), "unknown environment variable 'SONDE_XYZZY': unset it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"bnech", "bench", 1}, {"ca", "abc", 3}, {"größe", "grösse", 2}} {
		if got := editDistance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
