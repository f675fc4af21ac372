package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// smiPlaces are where nvidia-smi lies: in the PATH, or beside the driver on WSL2.
var smiPlaces = []string{"nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"}

var errNoSMI = errors.New("no nvidia-smi here")

// runSMI runs nvidia-smi and waits for it. A process that hangs inside the driver
// cannot be ended: the caller waits, and its last reading grows old.
func runSMI(ctx context.Context, args ...string) smiOutput {
	path := ""
	for _, place := range smiPlaces {
		if found, err := exec.LookPath(place); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return smiOutput{err: errNoSMI}
	}
	var stdout, stderr limited
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // for children that keep the pipes open
	err := cmd.Run()
	out := smiOutput{stdout: stdout.String(), stderr: stderr.String()}
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		out.err = fmt.Errorf("nvidia-smi gave no answer within %.0f s: the driver may hang", smiTimeout.Seconds())
	case errors.As(err, &ended):
		out.code = ended.ExitCode()
	case err != nil:
		out.err = fmt.Errorf("nvidia-smi cannot be run: %s", clean(err.Error()))
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

func (l *limited) String() string { return l.kept.String() }
