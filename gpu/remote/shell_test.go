package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sonde/gpu/tool"
)

// standIn puts a script named ssh, and programs that it finds, in front of the PATH. It
// writes its arguments to the file that standIn returns.
func standIn(t *testing.T, script string, programs map[string]string) (asked string) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	asked = filepath.Join(dir, "asked")
	programs["ssh"] = `printf '%s\n' "$@" >` + asked + "\n" + script
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	delete(programs, "ssh")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return asked
}

func TestParse(t *testing.T) {
	for address, want := range map[string]Target{
		"ssh://gpu1":             {"", "gpu1", ""},
		"ssh://me@gpu1:2222/":    {"me", "gpu1", "2222"},
		"ssh://me@[fe80::1]:22":  {"me", "fe80::1", "22"},
		"ssh://me:secret@gpu1":   {},
		"ssh://":                 {},
		"ssh://-oProxyCommand=x": {},
		"ssh://-l@gpu1":          {},
		"ssh://gpu1:99999":       {},
		"ssh://gpu1/home":        {},
		"http://gpu1":            {},
	} {
		got, err := Parse(address)
		if (err == nil) != (want != Target{}) || err == nil && got != want {
			t.Errorf("%s: %+v, %v", address, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error holds the password", address)
		}
	}
}

func TestShellRunsPrograms(t *testing.T) {
	asked := standIn(t, "echo 'Welcome to the cluster'\nexec sh -s\n", map[string]string{
		"nvidia-smi": `[ "$LC_ALL" = C ] || exit 9
for a in "$@"; do echo "<$a>"; done; echo oops >&2; exit 15`,
		"hung-smi": "sleep 60",
		"timeout":  `[ "$1" = 8 ] || exit 9; [ "$2" = hung-smi ] && exit 124; shift; exec "$@"`,
	})
	s, err := Dial(t.Context(), Target{"me", "gpu1", "2222"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	args, _ := os.ReadFile(asked)
	if text := string(args); !strings.Contains(text, "BatchMode=yes\n") || !strings.HasPrefix(text, "-T\n") ||
		!strings.HasSuffix(text, "-p\n2222\n-l\nme\n--\ngpu1\nexec sh -s\n") {
		t.Errorf("ssh was asked %q", args)
	}
	out := s.Run(t.Context(), "nvidia-smi", "it's", "a b", "$HOME", "`id`")
	if out.Err != nil || out.Code != 15 || out.Text != "<it's>\n<a b>\n<$HOME>\n<`id`>\noops\n" {
		t.Errorf("%+v", out)
	}
	if out := s.Run(t.Context(), "hung-smi"); out.Err == nil || out.Err.Error() != "no answer from hung-smi on gpu1 within 8 s: the driver may hang" {
		t.Errorf("%+v", out)
	}
	if out := s.Run(t.Context(), "no-such-smi"); !errors.Is(out.Err, tool.ErrMissing) {
		t.Errorf("%+v", out)
	}
}

func TestShellFollowsAProgramUntilItsEnd(t *testing.T) {
	standIn(t, "exec sh -s\n", map[string]string{"dmon": "echo ' a  b'; echo c\n"})
	s, err := Dial(t.Context(), Target{Host: "gpu1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var lines []string
	s.Follow(t.Context(), func(l string) { lines = append(lines, l) }, "dmon")
	if strings.Join(lines, "|") != " a  b|c" {
		t.Errorf("%q", lines)
	}
}

// Whatever is still running there ends when our side closes.
func TestNothingIsLeftOnTheOtherSide(t *testing.T) {
	dir := t.TempDir()
	standIn(t, "sh -s; echo over >"+dir+"/over\n", map[string]string{
		"dmon": `echo $$ >` + dir + `/pid.new; mv ` + dir + `/pid.new ` + dir + `/pid; while :; do echo line || exit; sleep 0.02; done`,
	})
	s, err := Dial(t.Context(), Target{Host: "gpu1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	arrived := make(chan bool, 1)
	go s.Follow(ctx, func(string) {
		select {
		case arrived <- true:
		default:
		}
	}, "dmon")
	<-arrived
	s.Close()
	pid, _ := os.ReadFile(dir + "/pid")
	for t.Context().Err() == nil { // the test's own limit bounds it
		_, running := os.Stat("/proc/" + strings.TrimSpace(string(pid)))
		_, over := os.Stat(dir + "/over")
		if running != nil && over == nil {
			return
		}
	}
}

func TestConnectionThatIsLost(t *testing.T) {
	standIn(t, "head -n 9 | sh; echo 'Timeout, server gpu1 not responding.' >&2; exit 255\n", map[string]string{})
	s, err := Dial(t.Context(), Target{Host: "gpu1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	<-s.done
	out := s.Run(t.Context(), "nvidia-smi")
	if !errors.Is(out.Err, tool.ErrGone) || out.Err.Error() != "SSH to gpu1: connection lost: Timeout, server gpu1 not responding." {
		t.Errorf("%v", out.Err)
	}
}

func TestSlowLinkIsNoAnswerInTime(t *testing.T) {
	standIn(t, "exec sh -s\n", map[string]string{"nvidia-smi": "exec sleep 5\n"})
	s, err := Dial(t.Context(), Target{Host: "gpu1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if out := s.Run(ctx, "nvidia-smi"); out.Err == nil || !strings.HasPrefix(out.Err.Error(), "no answer from gpu1 within") {
		t.Errorf("%+v", out)
	}
}

func TestLoginFailures(t *testing.T) {
	for _, c := range []struct {
		said, status, want string
		refused            bool
	}{
		{"me@gpu1: Permission denied (publickey,password).", "255", "me@gpu1:2222 refuses the login (publickey,password): ssh -p 2222 me@gpu1 has to work without a password, with a key or ssh-agent", true},
		{"@@@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @@@\nHost key verification failed.", "255",
			"the host key of me@gpu1:2222 has changed: if that is right, remove the old one with ssh-keygen -R, then run ssh -p 2222 me@gpu1 once", true},
		{"Host key verification failed.", "255", "the host key of me@gpu1:2222 is not known here: run ssh -p 2222 me@gpu1 once and confirm it", true},
		{"ssh: Could not resolve hostname gpu1: Name or service not known", "255", "no host has the name me@gpu1:2222: check it, or add it to ~/.ssh/config", false},
		{"ssh: connect to host gpu1 port 2222: Connection timed out", "255", "me@gpu1:2222 does not answer SSH: check its port, the VPN and the firewall", false},
		{"ssh: connect to host gpu1 port 2222: Connection refused", "255", "me@gpu1:2222 refuses SSH connections: check its port, and that sshd runs there", false},
		{"İİİİİİİİİİİİİİİİİİİİİİİİİİİİ Permission denied (publickey).", "255", "me@gpu1:2222 refuses the login (publickey): ssh -p 2222 me@gpu1 has to work without a password, with a key or ssh-agent", true},
		{"exec: sh: not found", "127", "me@gpu1:2222 has no POSIX shell: name an exporter with --gpu URL", true},
		{"something\nodd \x1b[31m", "255", "ssh to me@gpu1:2222 failed: odd [31m", false},
		{"", "1", "ssh to me@gpu1:2222 ended with status 1: check that ssh -p 2222 me@gpu1 works", false},
	} {
		standIn(t, "printf '%s' \""+c.said+"\" >&2; exit "+c.status+"\n", map[string]string{})
		_, err := Dial(t.Context(), Target{"me", "gpu1", "2222"})
		var f *Failure
		if !errors.As(err, &f) || f.Text != c.want || f.Refused != c.refused {
			t.Errorf("%q: %v\nwant %s", c.said, err, c.want)
		}
	}
}
