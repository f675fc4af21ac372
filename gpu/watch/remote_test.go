package watch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/gpu/remote"
	"sonde/gpu/tool"
)

// sshStandIn puts an ssh in front of the PATH that runs the shell of the other side here,
// with programs in its own folder.
func sshStandIn(t *testing.T, ssh string, programs map[string]string) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	programs["ssh"] = ssh
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestGPUsOverSSH(t *testing.T) {
	sshStandIn(t, "exec sh -s\n", map[string]string{"nvidia-smi": `
case "$1" in
dmon) echo "# gpu pwr smutil dram"; while :; do echo "0 640 80 60"; sleep 0.05; done;;
*) echo "GPU-1, 0, NVIDIA H100 80GB HBM3, 00000000:01:00.0, 97, 62, 81559, 1000, 640.52, 700.00, 50, 1980, 2619, [N/A], 0x0";;
esac
`})
	for mode, want := range map[string]string{
		"ssh":                "nvidia-smi over ssh engine",
		"ssh://me@gpu1:2222": "nvidia-smi over ssh me@gpu1:2222",
	} {
		r, err := finder(Options{Mode: mode, TargetHost: "engine", Interval: time.Second})(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		st, err := r.Read(t.Context())
		if err != nil || st.Source != want || len(st.GPUs) != 1 || st.GPUs[0].SM.Or(-1) != 0.8 || st.GPUs[0].DRAM.Or(-1) != 0.6 || st.GPUs[0].Busy.Or(-1) != 0.97 {
			t.Errorf("%s: %v, %+v", mode, err, st)
		}
		if !st.Serve("engine:8000", false) {
			t.Errorf("%s: GPUs that were named for the engine do not serve it", mode)
		}
		r.Close()
	}
}

// missing is a machine without any of the programs.
type missing struct{ tool.Local }

func (missing) Run(context.Context, string, ...string) tool.Output {
	return tool.Output{Err: tool.ErrMissing}
}

func TestNoToolOverSSH(t *testing.T) {
	_, err := openTool(t.Context(), missing{}, time.Second)
	if err == nil || !strings.HasPrefix(err.Error(), "neither nvidia-smi nor amd-smi nor rocm-smi was found there") {
		t.Error(err)
	}
}

// The session ends after the first readings: the next one says so, although the tool would
// not be run again for an hour.
func TestLostSessionIsNoticedAtOnce(t *testing.T) {
	sshStandIn(t, "echo $$ >\"$0.pid\"; exec sh -s\n", map[string]string{"nvidia-smi": `[ "$1" = dmon ] && exit
echo "GPU-1, 0, NVIDIA L4, 00000000:01:00.0, 97, 62, 81559, 1000, 640.52, 700.00, 50, 1980, 2619, [N/A], 0x0"
`})
	r, err := openRemote(t.Context(), remote.Target{Host: "gpu1"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	ssh, _ := exec.LookPath("ssh")
	pid, _ := os.ReadFile(ssh + ".pid")
	if out, err := exec.Command("kill", "-KILL", strings.TrimSpace(string(pid))).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for {
		_, err := r.Read(t.Context())
		if err == nil {
			continue // the signal is on its way
		}
		if !errors.Is(err, tool.ErrGone) || err.Error() != "SSH to gpu1: connection lost" {
			t.Error(err)
		}
		return
	}
}

func TestWithoutAHostThereIsNoLogin(t *testing.T) {
	_, err := finder(Options{Mode: "ssh"})(t.Context())
	if err == nil || err.Error() != "no host to log in to: name it with --gpu ssh://host" {
		t.Error(err)
	}
}

// 5, 10, 20, 40, 60 s while the host is away; 3 min after a refusal.
func TestPausesBetweenLogins(t *testing.T) {
	for _, c := range []struct {
		said string
		want []time.Duration
	}{
		{"Connection refused", []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute}},
		{"Permission denied (publickey).", []time.Duration{3 * time.Minute, 3 * time.Minute}},
	} {
		sshStandIn(t, "echo '"+c.said+"' >&2; exit 255\n", map[string]string{})
		find := findSSH(remote.Target{Host: "gpu1"}, time.Second)
		for i, want := range c.want {
			w := newWatcher(time.Second, func(ctx context.Context) (reader, error) { return find(ctx) })
			w.latest.Store(&gpu.Status{Source: "nvidia-smi over ssh gpu1"}) // it was there before
			if pause := w.session(t.Context()); pause != want {
				t.Errorf("%s, try %d: pause of %v, want %v", c.said, i+1, pause, want)
			}
		}
	}
}
