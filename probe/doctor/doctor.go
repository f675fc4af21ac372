// Package doctor says what can be seen from here and what cannot, and how right
// the measurement is: a checklist for an endpoint, and a calibration against a
// server that knows the truth.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"sonde/probe"
	"sonde/probe/doctor/truth"
	"sonde/probe/plain"
)

// Options are what the checklist is about.
type Options struct {
	probe.Options          // as for a measurement; without URL only this machine is examined
	Insecure      bool     // the certificate is not checked
	Watch         bool     // send no request
	Terminal      Terminal // what the program is shown on
}

// ServeScripted is the process that Calibrate measures.
func ServeScripted() error { return truth.Serve() }

// Examine goes through the checklist. It sends one streaming request of a few
// tokens at most. What depends on a failed check is skipped.
func Examine(ctx context.Context, o Options) Report {
	r := Report{Schema: ReportSchema}
	if o.URL == "" {
		r.localGPU(ctx, o.GPU)
	} else if addr, ok := r.reach(ctx, o); ok {
		r.endpoint(ctx, o, addr)
	}
	r.machine(o.Terminal)
	r.conclude()
	return r
}

// ExamineTo writes the checklist and reports whether measuring works. When it is
// interrupted it writes nothing.
func ExamineTo(ctx context.Context, to Output, o Options) (ready bool, err error) {
	o.Terminal = terminalOf(os.Stdin, to.Stdout, os.Environ())
	r := Examine(ctx, o)
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	return r.Ready, to.Write(&r)
}

// CalibrateTo writes the result of a calibration. Meanwhile it shows what is going
// on in one line of progress, if that is a terminal.
func CalibrateTo(ctx context.Context, to Output, progress *os.File) error {
	show := func(string) {}
	if term.IsTerminal(int(progress.Fd())) && os.Getenv("TERM") != "dumb" {
		show = func(text string) { fmt.Fprint(progress, "\r\x1b[K"+text) }
	}
	c, err := Calibrate(ctx, show)
	show("")
	if err != nil {
		return err
	}
	return to.Write(&c)
}

// Output is where a result goes, and how.
type Output struct {
	Path   string // "" is Stdout
	Format string // "table", "json", "md", or "" for a table on a terminal and JSON elsewhere
	Stdout *os.File
}

// Page is a result that can be written: a *Report or a *Calibration.
type Page interface {
	Text(width int, color bool) string
	Markdown() string
}

// Write writes a result. A reader that has closed its pipe is a normal end.
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
