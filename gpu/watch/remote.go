package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/gpu/amdsmi"
	"sonde/gpu/remote"
	"sonde/gpu/smi"
	"sonde/gpu/tool"
)

// ownHost is the mode that stands for the endpoint's own host, by SSH.
const ownHost = "ssh"

// ViaSSH reports whether a mode needs a login on another machine.
func ViaSSH(mode string) bool { return mode == ownHost || strings.HasPrefix(mode, remote.Scheme) }

// finderSSH returns the discovery on the machine that a mode of SSH names.
func finderSSH(mode string, o Options) func(context.Context) (reader, error) {
	t, err := remote.Target{Host: o.TargetHost}, error(nil)
	switch {
	case mode != ownHost:
		t, err = remote.Parse(mode)
	case o.TargetHost == "":
		err = errors.New("no host to log in to: name it with --gpu ssh://host")
	}
	if err != nil {
		return func(context.Context) (reader, error) { return nil, err }
	}
	return findSSH(t, o.Interval)
}

const (
	// mostPause is the longest wait between two logins that fail.
	mostPause = time.Minute
	// refusedPause is the wait after a login that was refused: the next one would fail as
	// well, and some servers ban those who try often.
	refusedPause = 3 * time.Minute
)

// delayed is a failed discovery that is not to be repeated soon.
type delayed struct {
	error
	pause time.Duration
}

func (d *delayed) Unwrap() error { return d.error }

// findSSH logs in, after a failure with longer and longer pauses.
func findSSH(t remote.Target, interval time.Duration) func(context.Context) (reader, error) {
	failed := 0
	return func(ctx context.Context) (reader, error) {
		r, err := openRemote(ctx, t, interval)
		if err == nil {
			failed = 0
			return r, nil
		}
		pause := min(mostPause, returnEvery<<min(failed, 4))
		failed++
		if f := (*remote.Failure)(nil); errors.As(err, &f) && f.Refused {
			pause = refusedPause
		}
		return nil, &delayed{err, pause}
	}
}

// openRemote logs in and takes the first tool that is there.
func openRemote(ctx context.Context, t remote.Target, interval time.Duration) (reader, error) {
	shell, err := remote.Dial(ctx, t)
	if err != nil {
		return nil, err
	}
	r, err := openTool(ctx, shell, interval)
	if err != nil {
		shell.Close()
		return nil, fmt.Errorf("%s: %w", gpu.Clean(t.String()), err)
	}
	return overSSH{r, shell, t}, nil
}

func openTool(ctx context.Context, m tool.Machine, interval time.Duration) (reader, error) {
	nvidia, err := smi.Open(ctx, m, interval)
	if !errors.Is(err, tool.ErrMissing) {
		return nvidia, err
	}
	amd, err := amdsmi.Open(ctx, m, interval)
	if errors.Is(err, tool.ErrMissing) {
		err = errors.New("neither nvidia-smi nor amd-smi nor rocm-smi was found there: install the driver's tools, or name the machine that has the GPUs")
	}
	return amd, err
}

// overSSH says by which way the readings came.
type overSSH struct {
	reader
	shell  *remote.Shell
	target remote.Target
}

// Read says that the session is lost even while no run is due.
func (o overSSH) Read(ctx context.Context) (gpu.Status, error) {
	if err := o.shell.Err(); err != nil {
		return gpu.Status{}, err
	}
	st, err := o.reader.Read(ctx)
	st.Source += " over ssh " + gpu.Clean(o.target.String())
	return st, err
}

func (o overSSH) Close() {
	o.reader.Close()
	o.shell.Close()
}
