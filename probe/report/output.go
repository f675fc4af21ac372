package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"sonde/probe/plain"
)

// CheckOut reports whether the summary can be written into the file at path, so
// that a run does not end in vain. It leaves no file behind and changes none;
// "" is standard output.
func CheckOut(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	_, nothing := os.Lstat(path) // a link to nowhere is not ours to remove
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("--out: %s is a directory: name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // opening a pipe would wait for its reader
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if os.IsNotExist(nothing) {
		return os.Remove(path)
	}
	return nil
}

// Document is a result that can be written in a format: "table", "json", "csv" or
// "md". A table is at most width cells wide; without color it holds no escape
// codes.
type Document interface {
	Write(w io.Writer, format string, width int, color bool) error
}

// Write writes a Document in a format: one of its own, or "" for a table on a
// terminal and JSON elsewhere. It goes into the file at path, or to stdout if
// that is "". When the file cannot be written stdout gets the Document as JSON,
// and the error says so. color is "always", "never" or "auto": on a terminal that
// wants it. A reader that has closed its pipe is a normal end.
func Write(d Document, path, format, color string, stdout *os.File) error {
	err := writeTo(d, path, format, color, stdout)
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if err == nil || path == "" {
		return err
	}
	if instead := d.Write(stdout, "json", 0, false); instead != nil {
		return fmt.Errorf("--out: %w; the summary is lost: %w", err, instead)
	}
	return fmt.Errorf("--out: %w; the summary was written to standard output as JSON instead", err)
}

func writeTo(d Document, path, format, color string, stdout *os.File) error {
	if path == "" {
		return writeFile(d, stdout, format, color)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(writeFile(d, file, format, color), file.Close())
}

// writeFile chooses what depends on whether the file is a terminal.
func writeFile(d Document, to *os.File, format, color string) error {
	terminal := term.IsTerminal(int(to.Fd()))
	if format == "" {
		format = "json"
		if terminal {
			format = "table"
		}
	}
	return d.Write(to, format, TerminalWidth(to), color == "always" || color != "never" && terminal && colorful())
}

// Write writes the Summary in one of the formats of a Document, or as "vllm".
func (s Summary) Write(w io.Writer, format string, width int, color bool) error {
	if format == "vllm" {
		return s.WriteVLLM(w)
	}
	return writeForm(s, w, format, width, color)
}

// forms are what a Summary and a SweepSummary can be written as.
type forms interface {
	WriteTable(w io.Writer, width int, color bool) error
	WriteCSV(w io.Writer) error
	WriteMarkdown(w io.Writer) error
}

func writeForm(f forms, w io.Writer, format string, width int, color bool) error {
	switch format {
	case "table":
		return f.WriteTable(w, width, color)
	case "csv":
		return f.WriteCSV(w)
	case "md":
		return f.WriteMarkdown(w)
	}
	return plain.WriteJSON(w, f)
}

func colorful() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }
