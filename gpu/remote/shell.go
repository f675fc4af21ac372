package remote

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"sonde/gpu"
	"sonde/gpu/tool"
	"sonde/probe/guard"
)

// loginLimit bounds a login through all jump hosts; ssh itself only bounds the connection to
// the first of them.
const loginLimit = 30 * time.Second

// Shell is one session on another machine. It implements tool.Machine.
type Shell struct {
	target Target
	mark   string
	cancel context.CancelFunc
	stdin  io.WriteCloser
	stderr tail

	ready chan struct{} // closed once the other side answers
	done  chan struct{} // closed when ssh has ended
	code  int           // its exit status, once done

	mu        sync.Mutex
	last      int // number of the newest run
	waiting   map[int]chan tool.Output
	followers map[int]follower
}

// Dial logs in and starts a shell; its error is a sentence for people. The session ends
// with the context or Close.
func Dial(ctx context.Context, t Target) (*Shell, error) {
	path, err := exec.LookPath("ssh")
	if err != nil {
		return nil, &Failure{"ssh is not installed on this machine: install OpenSSH's client, or name an exporter with --gpu URL", true}
	}
	running, cancel := context.WithCancel(ctx)
	s := &Shell{target: t, mark: "sonde-" + rand.Text(), cancel: cancel, ready: make(chan struct{}), done: make(chan struct{}),
		waiting: map[int]chan tool.Output{}, followers: map[int]follower{}}
	if err := s.start(running, path); err != nil {
		cancel()
		return nil, &Failure{"ssh failed to run: " + gpu.Clean(err.Error()), false}
	}
	login := time.NewTimer(loginLimit)
	defer login.Stop()
	select {
	case <-s.ready:
		return s, nil
	case <-s.done:
		cancel()
		return nil, t.loginFailure(s.stderr.String(), s.code)
	case <-login.C:
		cancel()
		return nil, &Failure{fmt.Sprintf("%s gives no shell within %.0f s: check that %s works", gpu.Clean(t.String()), loginLimit.Seconds(), gpu.Clean(t.command())), false}
	case <-ctx.Done():
		cancel()
		return nil, ctx.Err()
	}
}

func (s *Shell) start(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, path, s.target.args()...)
	cmd.WaitDelay = time.Second
	cmd.Stderr = &s.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.stdin = stdin
	_, _ = io.WriteString(stdin, scriptFor(s.mark)) // fails if ssh has ended: it says why
	guard.Go("SSH session", func(error) {}, func() {
		defer close(s.done)
		s.read(stdout)
		s.cancel() // after text that breaks the protocol ssh still runs
		_ = cmd.Wait()
		s.code = cmd.ProcessState.ExitCode()
	})
	return nil
}

// Name is that of the machine.
func (s *Shell) Name() string { return s.target.Host }

// Err is why the session has ended; nil while it lasts.
func (s *Shell) Err() error {
	select {
	case <-s.done:
		return s.lost()
	default:
		return nil
	}
}

// lost says that the session ended by itself.
func (s *Shell) lost() error {
	if said := lastLine(s.stderr.String()); said != "" {
		return fmt.Errorf("SSH to %s: %w: %s", gpu.Clean(s.target.String()), tool.ErrGone, said)
	}
	return fmt.Errorf("SSH to %s: %w", gpu.Clean(s.target.String()), tool.ErrGone)
}

// Close ends the session: the shell there ends with its input.
func (s *Shell) Close() {
	_ = s.stdin.Close()
	select {
	case <-s.done:
	case <-time.After(time.Second):
	}
	s.cancel()
}

// tail keeps the last bytes that ssh wrote to its error stream.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-most):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}

var _ tool.Machine = (*Shell)(nil)
