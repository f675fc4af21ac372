package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/term"

	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/slo"
	"sonde/ui/theme"
)

// Options is what the live screen needs. Only Frames is required.
type Options struct {
	Frames   frame.Frames
	Controls frame.Controls                            // nil: a recording, whose load cannot be changed
	Playback frame.Playback                            // of a recording; nil: Frames come as they happen
	Judge    Judge                                     // nil: no verdict
	NewJudge func() Judge                              // replaces Judge when a jump makes Frames start over; nil: it stays
	Save     func(svg string) (path string, err error) // writes what was measured and the picture; nil: no saving
	SLOs     []slo.Target
	Levels   Levels  // nil: those of the Judge
	Sweeper  Sweeper // nil: nothing to sweep

	Rehearsal frame.Rehearsal // nil: the engine cannot be switched

	ASCII bool   // draw with ASCII characters only
	Color string // "auto" (or ""), "always", "never"

	Input  io.Reader // nil: standard input
	Output io.Writer // nil: standard output
}

// Judge turns Frames into verdicts; *diagnose.Judge is one.
type Judge interface {
	Add(f *frame.Frame)
	Verdicts() []diagnose.Verdict // strongest first
	Checked() diagnose.Checked
	Book() *level.Book // of all loads that it has seen
}

// framesPerSecond is how often the renderer looks for a new view. The view
// itself changes four times a second and on keys.
const framesPerSecond = 30

// ErrInterrupted is the result of ctrl+c.
var ErrInterrupted error = interrupted{}

type interrupted struct{}

func (interrupted) Error() string { return "interrupted" }

// ExitCode is the one shells give to SIGINT.
func (interrupted) ExitCode() int { return 130 }

// Run shows the live screen until the user quits (nil) or presses ctrl+c
// (ErrInterrupted), the context ends (its cause), a Frame carries a fatal error, or
// something of the screen itself breaks. The terminal is restored in every case.
func Run(ctx context.Context, o Options) error { return run(ctx, o) }

func run(ctx context.Context, o Options, more ...tea.ProgramOption) error {
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if o.Input == nil {
		o.Input = os.Stdin
	}
	env := uv.Environ(os.Environ())
	profile := theme.Profile(o.Color, o.Output, env)
	m := newModel(o, theme.New(profile, o.ASCII || !theme.Unicode(env)))
	p := tea.NewProgram(m, append(more, tea.WithContext(ctx), tea.WithInput(o.Input), tea.WithOutput(o.Output),
		tea.WithEnvironment(env), tea.WithColorProfile(profile), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler())...)
	began := time.Now()
	_, err := p.Run()
	if !m.replied {
		takeReplies(o.Input, began.Add(repliesWithin))
	}
	return reason(ctx, m.err, err)
}

// reason is why the screen ended, the most specific reason first.
func reason(ctx context.Context, own, program error) error {
	switch {
	case own != nil:
		return own
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(program, tea.ErrInterrupted):
		return ErrInterrupted
	case program != nil:
		return fmt.Errorf("live screen: %w", program)
	}
	return nil
}

// CheckTerminal returns a one-line error if there can be no live screen on these two. It ends
// with the way out, which the caller knows.
func CheckTerminal(stdin, stdout *os.File, wayOut string) error {
	for _, f := range []struct {
		file *os.File
		name string
	}{{stdout, "output"}, {stdin, "input"}} {
		if f.file == nil || !term.IsTerminal(int(f.file.Fd())) {
			return fmt.Errorf("standard %s is not a terminal, and the screen needs one: %s", f.name, wayOut)
		}
	}
	return checkKind(os.Getenv("TERM"), wayOut)
}

// checkKind refuses a terminal that cannot move its cursor: it must not get a
// single escape code.
func checkKind(kind, wayOut string) error {
	if kind == "dumb" {
		return errors.New("this terminal cannot draw a screen (TERM=dumb): " + wayOut)
	}
	return nil
}
