package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"sonde/probe/plain"
)

// Output is where a result goes, and how.
type Output struct {
	Path   string // "" is Stdout
	Format string // "table", "json", "md", or "" for a table on a terminal and else JSON
	Stdout *os.File
}

// Page is a result that can be written: a *Report or a *Calibration.
type Page interface {
	Text(width int, color bool) string
	Markdown() string
}

// Write writes a result. A reader that has closed its pipe is a
// normal end.
func (o Output) Write(p Page) error {
	to := o.Stdout
	if o.Path != "" {
		file, err := os.Create(o.Path)
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		to = file
	}
	err := o.write(to, p)
	if o.Path != "" {
		err = errors.Join(err, to.Close())
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// usualWidth is the width of a page where there is no terminal.
const usualWidth = 80

func (o Output) write(to *os.File, p Page) error {
	width, _, err := term.GetSize(int(to.Fd()))
	terminal := err == nil
	if !terminal || width <= 0 {
		width = usualWidth
	}
	var text string
	switch {
	case o.Format == "table", o.Format == "" && terminal:
		text = p.Text(width, terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
	case o.Format == "md":
		text = p.Markdown()
	default:
		return plain.WriteJSON(to, p)
	}
	_, err = io.WriteString(to, text)
	return err
}

// ExamineTo writes the checklist and tells whether measuring works. When it is
// interrupted it writes nothing.
func ExamineTo(ctx context.Context, to Output, o Options) (ready bool, err error) {
	o.Terminal = terminalOf(os.Stdin, to.Stdout, os.Environ())
	r := Examine(ctx, o)
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	return r.Ready, to.Write(&r)
}

// CalibrateTo writes the result of a calibration.
func CalibrateTo(ctx context.Context, to Output, progress func(string)) error {
	c, err := Calibrate(ctx, progress)
	progress("")
	if err != nil {
		return err
	}
	return to.Write(&c)
}

// Progress shows what is going on on one line, if to is a terminal; "" takes the
// line away.
func Progress(to *os.File) func(string) {
	if !term.IsTerminal(int(to.Fd())) || os.Getenv("TERM") == "dumb" {
		return func(string) {}
	}
	return func(text string) { fmt.Fprint(to, "\r\x1b[K"+text) }
}
