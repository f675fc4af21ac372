package remote

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/gpu/tool"
	"sonde/probe/opt"
)

const (
	// hangLimit ends a program there. It is shorter than we wait, so that a program that
	// hangs is not taken for a slow link, and the shell is free for the next one.
	hangLimit = tool.RunLimit - 2*time.Second
	// mostText is how much of a program's text is kept.
	mostText = 1 << 20
)

// Exit statuses of timeout(1) for a program that it ended, and of shells for programs that
// are not there or cannot be run.
const (
	codeTimeout = 124
	codeNotRun  = 126
	codeMissing = 127
)

// follower gets the lines of a program that goes on; over is closed when it has ended.
type follower struct {
	line func(string)
	over chan struct{}
}

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
			out.Err = fmt.Errorf("%s %w", program, tool.ErrMissing)
		case codeTimeout:
			out.Err = fmt.Errorf("no answer from %s on %s within %.0f s: the driver may hang", program, gpu.Clean(s.target.Host), hangLimit.Seconds())
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

// send writes one line to the shell.
func (s *Shell) send(n int, verb, program string, args []string) {
	_, _ = io.WriteString(s.stdin, verb+" "+strconv.Itoa(n)+quoted(append([]string{program}, args...)...)+"\n") // a failure closes done
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
