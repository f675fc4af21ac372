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
	Controls frame.Controls                                  // nil: a recording, whose load cannot be changed
	Playback frame.Playback                                  // of a recording; nil: Frames come as they happen
	Judge    Judge                                           // nil: no verdict
	NewJudge func() Judge                                    // replaces Judge when a jump makes Frames start over; nil: it stays
	Save     func(svg, cast string) (path string, err error) // writes what was measured, the picture and the last minutes; nil: no saving
	SLOs     []slo.Target
	SetSLOs  func([]slo.Target) // judges by others from now on; nil: they stay
	Levels   Levels             // nil: those of the Judge
	Sweeper  Sweeper            // nil: nothing to sweep

	Other     Other         // another run to show beside this one; nil: none
	LoadBegan time.Duration // when the load of a recording began; 0: its Frames show it

	Rehearsal frame.Rehearsal // nil: the engine cannot be switched

	ASCII bool   // draw with ASCII characters only
	Color string // "auto" (or ""), "always", "never"
	Theme theme.Theme

	Input  io.Reader // nil: standard input
	Output io.Writer // nil: standard output
}

// Judge turns Frames into verdicts; *diagnose.Judge is one.
type Judge interface {
	Add(f *frame.Frame)
	Verdicts() []diagnose.Verdict // strongest first
	Checked() diagnose.Checked
	Incidents() []diagnose.Incident // by their beginning
	Book() *level.Book              // of all loads that it has seen
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
	t := Terminal{Input: o.Input, Output: o.Output, ASCII: o.ASCII, Color: o.Color, Theme: o.Theme}
	return Show(ctx, t, func(p *theme.Palette) Screen { return newModel(o, p) }, more...)
}

// Terminal is where a screen is shown.
type Terminal struct {
	Input  io.Reader // nil: standard input
	Output io.Writer // nil: standard output
	ASCII  bool      // draw with ASCII characters only
	Color  string    // "auto" (or ""), "always", "never"
	Theme  theme.Theme
}

// Screen is what fills the terminal.
type Screen interface {
	tea.Model
	Replied() bool // the terminal has replied to the last question of the start
	Err() error    // why the screen ended itself; nil: it did not
}

// Show shows a screen, as Run does with the live one.
func Show(ctx context.Context, t Terminal, screen func(*theme.Palette) Screen, more ...tea.ProgramOption) error {
	if t.Output == nil {
		t.Output = os.Stdout
	}
	if t.Input == nil {
		t.Input = os.Stdin
	}
	env := uv.Environ(os.Environ())
	profile := theme.Profile(t.Color, t.Output, env)
	s := screen(t.Theme.Palette(profile, t.ASCII || !theme.Unicode(env)))
	p := tea.NewProgram(s, append(more, tea.WithContext(ctx), tea.WithInput(t.Input), tea.WithOutput(t.Output),
		tea.WithEnvironment(env), tea.WithColorProfile(profile), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler())...)
	began := time.Now()
	_, err := p.Run()
	if !s.Replied() {
		takeReplies(t.Input, began.Add(repliesWithin))
	}
	return reason(ctx, s.Err(), err)
}

// Replied and Err are those of a Screen.
func (m *model) Replied() bool { return m.replied }
func (m *model) Err() error    { return m.err }

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
