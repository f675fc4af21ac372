package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Longest lines that can be ours: a Frame of a thousand streams has some 100 kB.
const (
	longestHeader = 1 << 20
	longestLine   = 256 << 20
)

// lines gives the lines of a recording one after the other.
type lines struct {
	in     *bufio.Reader
	number int    // of the newest line
	long   []byte // a line that in's buffer does not hold
}

// next gives the next line with its end, valid until anything else is asked; whole
// tells whether it has an end. After the last line comes io.EOF.
func (l *lines) next(longest int) (line []byte, whole bool, err error) {
	l.number++
	line, err = l.in.ReadSlice('\n')
	if err != nil {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(l.long) <= longest {
			line, err = l.in.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	switch {
	case len(line) > longest:
		return nil, false, fmt.Errorf("line %d of the recording is too long to be one of sonde", l.number)
	case err == nil:
		return line, true, nil
	case !errors.Is(err, io.EOF):
		return nil, false, fmt.Errorf("line %d of the recording: %w", l.number, err)
	case len(line) == 0:
		return nil, false, io.EOF
	}
	return line, false, nil
}

// ended tells whether nothing follows the newest line, which it makes invalid.
func (l *lines) ended() bool {
	_, err := l.in.Peek(1)
	return errors.Is(err, io.EOF)
}
