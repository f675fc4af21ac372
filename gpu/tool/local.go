package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/probe/opt"
)

// folders are where nvidia-smi lies: in the PATH, or beside the driver on WSL2.
var folders = []string{"", "/usr/lib/wsl/lib/"}

// Local is this machine.
type Local struct{}

// Name is that of the machine.
func (Local) Name() string { return nvml.HostName() }

// Memory is that of the machine.
func (Local) Memory() (used, total opt.Float) { return nvml.SystemMemory() }

// command prepares a run; not ok if the program is not installed.
func command(ctx context.Context, program string, args []string) (cmd *exec.Cmd, ok bool) {
	for _, folder := range folders {
		path, err := exec.LookPath(folder + program)
		if err != nil {
			continue
		}
		cmd = exec.CommandContext(ctx, path, args...)
		cmd.Env = append(cmd.Environ(), "LC_ALL=C")
		cmd.WaitDelay = time.Second // for children that keep the pipes open
		return cmd, true
	}
	return nil, false
}

// Run runs a program. A process that hangs inside the driver cannot be ended: the caller
// waits, and its last reading grows old.
func (Local) Run(ctx context.Context, program string, args ...string) Output {
	cmd, ok := command(ctx, program, args)
	if !ok {
		return Output{Err: fmt.Errorf("%s %w", program, ErrMissing)}
	}
	var stdout, stderr limited // not one for both: they would mix within a line
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	out := Output{Text: stdout.kept.String() + "\n" + stderr.kept.String()}
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		out.Err = fmt.Errorf("no answer from %s within %.0f s: the driver may hang", program, time.Since(began).Seconds())
	case errors.As(err, &ended):
		out.Code = ended.ExitCode()
	case err != nil:
		out.Err = fmt.Errorf("%s failed to run: %s", program, gpu.Clean(err.Error()))
	}
	return out
}

// Follow runs a program that goes on.
func (Local) Follow(ctx context.Context, line func(string), program string, args ...string) {
	cmd, ok := command(ctx, program, args)
	if !ok {
		return
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return
	}
	cmd.Stderr = cmd.Stdout
	if cmd.Start() != nil {
		return
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line(lines.Text())
	}
	_ = out.Close() // after a line that is too long, the program has to end, too
	_ = cmd.Wait()
}

// limited keeps the first bytes of a stream and swallows the rest. The buffer is
// not embedded: its ReadFrom would be taken instead of Write.
type limited struct{ kept bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	const most = 1 << 20
	if room := most - l.kept.Len(); room > 0 {
		l.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
