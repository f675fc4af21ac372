package headless

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SavePicture writes a picture of a recording into a new file of the folder,
// named for the recording, and returns its name. It never overwrites.
func SavePicture(dir, recording string, now time.Time, svg string) (string, error) {
	name := strings.TrimSuffix(filepath.Base(recording), filepath.Ext(recording))
	stem := filepath.Join(dir, fmt.Sprintf("sonde-%s-%s", fileName(name), now.Format("20060102-150405")))
	for n := 1; ; n++ {
		path := stem + ".svg"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.svg", stem, n)
		}
		if err := create(path, text(svg)); !os.IsExist(err) {
			return path, err
		}
	}
}

// text writes a text.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// create writes a file that must not exist yet.
func create(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// fileName keeps of a name what is safe in a file's name everywhere.
func fileName(s string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, s)
	return clean[:min(len(clean), 60)]
}
