package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestExitCodes(t *testing.T) {
	clean(t)
	for _, c := range []struct {
		err    error
		code   int
		stderr string
	}{
		{nil, 0, ""},
		{errors.New("it broke"), 1, "sonde: it broke\n"},
		{&ExitError{Code: 130}, 130, ""},
		{&ExitError{Code: 143, Err: errors.New("terminated")}, 143, "sonde: terminated\n"},
		{&ExitError{Code: 1}, 1, ""},
		{fmt.Errorf("wrapped: %w", &ExitError{2, errors.New("bad prompts")}), 2, "sonde: wrapped: bad prompts\n"},
		{errors.New("server said \x1b[2J\nboo"), 1, "sonde: server said [2J boo\n"},
	} {
		var stderr bytes.Buffer
		code := Execute(context.Background(), []string{"bench", "h:1"}, io.Discard, &stderr, BuildInfo{},
			Actions{"bench": func(context.Context, Config) error { return c.err }})
		if code != c.code || stderr.String() != c.stderr {
			t.Errorf("%v: code %d, stderr %q, want %d, %q", c.err, code, stderr.String(), c.code, c.stderr)
		}
	}
}

func TestEachCommandRunsItsAction(t *testing.T) {
	clean(t)
	for want, args := range map[string][]string{"live": nil, "bench": {"bench"}, "sweep": {"sweep"}, "sim": {"sim"}, "doctor": {"doctor"}, "plan": {"plan", "--qps", "1"}, "replay": {"replay", "run.jsonl"}, "canary": {"canary", "h:1"}, "compare": {"compare", "a.json", "b.json"}, "merge": {"merge", "a.json", "b.json"}} {
		if o := call(args...); o.command != want || o.code != 0 {
			t.Errorf("%q: ran %q, code %d", args, o.command, o.code)
		}
	}
	if o := call("-c", "3", "bench"); o.command != "bench" || o.config.Concurrency != 3 {
		t.Errorf("flags before the command: ran %q, %v", o.command, o.config)
	}
}

func TestActionGetsTheContext(t *testing.T) {
	clean(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("the caller's own")
	cancel(cause)
	Execute(ctx, []string{"sim"}, io.Discard, io.Discard, BuildInfo{},
		Actions{"sim": func(ctx context.Context, _ Config) error {
			if context.Cause(ctx) != cause {
				t.Error("another context")
			}
			return nil
		}})
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestOutputThatFails(t *testing.T) {
	clean(t)
	for _, arg := range []string{"man", "--print-config"} {
		if code := Execute(context.Background(), []string{arg}, brokenPipe{}, io.Discard, BuildInfo{}, Actions{}); code != 1 {
			t.Errorf("%s: code %d, want 1", arg, code)
		}
	}
}

// The table must be free of clashes, since flags, variables and keys come from it.
func TestTable(t *testing.T) {
	var c Config
	keys, variables, fields := map[string]bool{}, map[string]bool{}, map[any]bool{}
	for _, s := range table(&c) {
		if keys[s.key] || variables[s.envName()] || fields[s.field] {
			t.Errorf("%s: key, variable or field twice", s.key)
		}
		keys[s.key], variables[s.envName()], fields[s.field] = true, true, true
		if _, isSwitch := s.field.(*bool); isSwitch != (s.arg == "") {
			t.Errorf("%s: a switch has no argument, all others have", s.key)
		}
		if s.help == "" || s.group == "" {
			t.Errorf("%s: incomplete", s.key)
		}
	}
	for _, c := range commands {
		for _, key := range c.common {
			if s, known := lookup(table(&Config{}), key); !known || !s.flagOf(c.name) {
				t.Errorf("sonde %s: common flag %s is none of its flags", c.name, key)
			}
		}
	}
}
