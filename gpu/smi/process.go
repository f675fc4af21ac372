package smi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"sonde/gpu"
)

// places are where nvidia-smi lies: in the PATH, or beside the driver on WSL2.
var places = []string{"nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"}

// ErrMissing: nvidia-smi is not installed.
var ErrMissing = errors.New("nvidia-smi not found")

// runTool runs nvidia-smi and waits for it. A process that hangs inside the driver
// cannot be ended: the caller waits, and its last reading grows old.
func runTool(ctx context.Context, args ...string) output {
	path := ""
	for _, place := range places {
		if found, err := exec.LookPath(place); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return output{err: ErrMissing}
	}
	var stdout, stderr limited // not one for both: they would mix within a line
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // for children that keep the pipes open
	err := cmd.Run()
	out := output{text: stdout.kept.String() + "\n" + stderr.kept.String()}
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		out.err = fmt.Errorf("no answer from nvidia-smi within %.0f s: the driver may hang", runTimeout.Seconds())
	case errors.As(err, &ended):
		out.code = ended.ExitCode()
	case err != nil:
		out.err = fmt.Errorf("nvidia-smi failed to run: %s", gpu.Clean(err.Error()))
	}
	return out
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
