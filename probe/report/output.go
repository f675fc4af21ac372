package report

import (
	"errors"
	"fmt"
	"os"
	"strings"
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

// Document is a result that can be shown in several forms.
type Document interface {
	// Text is for people, in lines of at most width cells. Without color it holds no escape codes.
	Text(width int, color bool) string
	Markdown() string
}

// Render returns a Document as "table", "json", "md" or, if it has that form, "csv" or "vllm".
func Render(d Document, format string, width int, color bool) (string, error) {
	switch format {
	case "table":
		return d.Text(width, color), nil
	case "md":
		return d.Markdown(), nil
	case "csv":
		if d, ok := d.(interface{ CSV() (string, error) }); ok {
			return d.CSV()
		}
	case "vllm":
		if d, ok := d.(interface{ VLLM() (string, error) }); ok {
			return d.VLLM()
		}
	}
	var out strings.Builder
	err := plain.WriteJSON(&out, d)
	return out.String(), err
}

// Write writes a Document in a format of Render, or "" for a table on a terminal and JSON
// elsewhere. It goes into the file at path, or to stdout if that is "". When the file cannot
// be written stdout gets the Document as JSON, and the error says so. color is "always",
// "never" or "auto": on a terminal that wants it. A reader that has closed its pipe is a
// normal end.
func Write(d Document, path, format, color string, stdout *os.File) error {
	err := writeTo(d, path, format, color, stdout)
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if err == nil || path == "" {
		return err
	}
	if instead := writeFile(d, stdout, "json", color); instead != nil {
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
	colorful := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	text, err := Render(d, format, TerminalWidth(to), color == "always" || color != "never" && terminal && colorful)
	if err != nil {
		return err
	}
	_, err = to.WriteString(text)
	return err
}
