package config

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outcome is what one call of the program did.
type outcome struct {
	config         Config
	command        string // whose action ran; "" if none
	stdout, stderr string
	code           int
}

// clean takes the machine's own settings out of the test's environment, and gives
// the path of the default settings file, which does not exist yet.
func clean(t *testing.T) (file string) {
	t.Helper()
	dir := t.TempDir()
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "SONDE_") || strings.HasPrefix(name, "OPENAI_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	if err := os.MkdirAll(filepath.Join(dir, "sonde"), 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "sonde", "config.toml")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// call runs the program with actions that only note their Config.
func call(args ...string) outcome {
	var o outcome
	var stdout, stderr bytes.Buffer
	note := func(name string) func(context.Context, Config) error {
		return func(_ context.Context, c Config) error {
			o.command, o.config = name, c
			return nil
		}
	}
	o.code = Execute(context.Background(), args, &stdout, &stderr, BuildInfo{Version: "v1.2.3", Commit: "abcdef", Date: "2026-01-02T03:04:05Z", NVML: true},
		Actions{"": note("live"), "bench": note("bench"), "sweep": note("sweep"), "sim": note("sim"), "doctor": note("doctor"), "plan": note("plan"), "replay": note("replay"), "canary": note("canary"), "compare": note("compare"), "merge": note("merge")})
	o.stdout, o.stderr = stdout.String(), stderr.String()
	return o
}

// must is call for arguments that are right.
func must(t *testing.T, args ...string) Config {
	t.Helper()
	o := call(args...)
	if o.code != 0 || o.stderr != "" || o.command == "" {
		t.Fatalf("%q: code %d, ran %q, stderr %q", args, o.code, o.command, o.stderr)
	}
	return o.config
}

// refused is call for arguments that are wrong; it gives the one line on stderr.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	o := call(args...)
	if o.code != 2 || o.command != "" || o.stdout != "" {
		t.Errorf("%q: code %d, ran %q, stdout %q, want wrong usage", args, o.code, o.command, o.stdout)
	}
	if strings.Count(o.stderr, "\n") != 1 || !strings.HasPrefix(o.stderr, "sonde: ") {
		t.Errorf("%q: stderr %q, want one line", args, o.stderr)
	}
	return strings.TrimSuffix(strings.TrimPrefix(o.stderr, "sonde: "), "\n")
}
