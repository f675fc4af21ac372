package headless

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"
)

// Write writes the Summary in a format: "table", "json", "csv", "md", or "" for
// a table on a terminal and JSON elsewhere. It goes into the file at path, or to
// stdout if that is "". A reader that has closed its pipe is a normal end.
func Write(s Summary, path, format string, stdout *os.File) error {
	to := stdout
	if path != "" {
		file, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		to = file
	}
	terminal := term.IsTerminal(int(to.Fd()))
	if format == "" {
		format = "json"
		if terminal {
			format = "table"
		}
	}
	err := s.write(to, format, TerminalWidth(to), terminal && colorful())
	if path != "" {
		err = errors.Join(err, to.Close())
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

func (s Summary) write(w io.Writer, format string, width int, color bool) error {
	switch format {
	case "table":
		return s.WriteTable(w, width, color)
	case "csv":
		return s.WriteCSV(w)
	case "md":
		return s.WriteMarkdown(w)
	}
	return s.WriteJSON(w)
}

func colorful() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }
