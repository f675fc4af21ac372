package remote

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/gpu/tool"
	"sonde/probe/guard"
	"sonde/probe/opt"
)

const (
	// loginLimit bounds a login through all jump hosts; ssh itself only bounds the
	// connection to the first of them.
	loginLimit = 30 * time.Second
	// mostText is how much of a program's text is kept.
	mostText = 1 << 20
	// codeTimeout is the exit status of timeout(1) for a program that it ended.
	codeTimeout = 124
	codeMissing = 127
)

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

// follower gets the lines of a program that goes on; over is closed when it has ended.
type follower struct {
	line func(string)
	over chan struct{}
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

// read sorts what arrives until the stream ends.
func (s *Shell) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, mostText)
	var text strings.Builder
	for lines.Scan() {
		line := lines.Text()
		rest, ours := strings.CutPrefix(line, s.mark+" ")
		word, rest, _ := strings.Cut(rest, " ")
		switch number, rest, _ := strings.Cut(rest, " "); {
		case !ours:
			if text.Len()+len(line) < mostText {
				text.WriteString(line + "\n")
			}
		case word == "ready":
			text.Reset() // what the login itself printed
			select {
			case <-s.ready:
			default:
				close(s.ready)
			}
		case word == "end":
			s.deliver(number, rest, text.String())
			text.Reset()
		case word == "line":
			s.pass(number, rest)
		case word == "over":
			s.end(number)
		}
	}
}

func (s *Shell) deliver(number, code, text string) {
	n, _ := strconv.Atoi(number)
	c, err := strconv.Atoi(code)
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer, ok := s.waiting[n]; ok && err == nil {
		answer <- tool.Output{Text: text, Code: c}
		delete(s.waiting, n)
	}
}

func (s *Shell) pass(number, line string) {
	n, _ := strconv.Atoi(number)
	s.mu.Lock()
	f, ok := s.followers[n]
	s.mu.Unlock()
	if ok {
		f.line(line)
	}
}

func (s *Shell) end(number string) {
	n, _ := strconv.Atoi(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.followers[n]; ok {
		close(f.over)
		delete(s.followers, n)
	}
}

// send writes one line to the shell.
func (s *Shell) send(n int, verb, program string, args []string) {
	_, _ = io.WriteString(s.stdin, verb+" "+strconv.Itoa(n)+quoted(append([]string{program}, args...)...)+"\n") // a failure closes done
}

// Name is that of the machine.
func (s *Shell) Name() string { return s.target.Host }

// Run runs a program there.
func (s *Shell) Run(ctx context.Context, program string, args ...string) tool.Output {
	answer := make(chan tool.Output, 1)
	s.mu.Lock()
	s.last++
	n := s.last
	s.waiting[n] = answer
	s.send(n, "ask", program, args)
	s.mu.Unlock()
	began := time.Now()
	select {
	case out := <-answer:
		switch out.Code {
		case codeMissing:
			out.Err = fmt.Errorf("%s: %w", program, tool.ErrMissing)
		case codeTimeout:
			out.Err = fmt.Errorf("no answer from %s on %s within 10 s: the driver may hang", program, gpu.Clean(s.target.Host))
		}
		return out
	case <-s.done:
		return tool.Output{Err: s.lost()}
	case <-ctx.Done():
		s.mu.Lock()
		delete(s.waiting, n)
		s.mu.Unlock()
		return tool.Output{Err: fmt.Errorf("no answer from %s within %.0f s: the link or the machine is slow", gpu.Clean(s.target.String()), time.Since(began).Seconds())}
	}
}

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

// Follow runs a program there that goes on. It ends when the context does or the session.
func (s *Shell) Follow(ctx context.Context, line func(string), program string, args ...string) {
	s.mu.Lock()
	s.last++
	n := s.last
	f := follower{line, make(chan struct{})}
	s.followers[n] = f
	s.send(n, "watch", program, args)
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-f.over:
	case <-s.done:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.followers, n)
	_, _ = io.WriteString(s.stdin, "end\n") // one program is followed at a time
}

// Memory is that of the machine; unknown where it is not Linux.
func (s *Shell) Memory() (used, total opt.Float) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return nvml.ParseMeminfo(s.Run(ctx, "cat", "/proc/meminfo").Text)
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
