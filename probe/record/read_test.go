package record

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// The reader's buffer is bufio's smallest, 16 bytes: the second line does not fit
// into it, the fourth is torn, and the third is empty.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 40)
	l := lines{in: bufio.NewReaderSize(strings.NewReader("short\n"+long+"\n\ntorn"), 16)}
	for i, want := range []struct {
		line  string
		whole bool
	}{{"short\n", true}, {long + "\n", true}, {"\n", true}, {"torn", false}} {
		line, whole, err := l.next(100)
		if string(line) != want.line || whole != want.whole || err != nil || l.number != i+1 {
			t.Errorf("line %d: %q, %v, %v; want %q, %v", l.number, line, whole, err, want.line, want.whole)
		}
		if ended := l.ended(); ended != (i == 3) {
			t.Errorf("after line %d: ended is %v", i+1, ended)
		}
	}
	if line, whole, err := l.next(100); len(line) != 0 || whole || err != io.EOF {
		t.Errorf("after the last: %q, %v, %v", line, whole, err)
	}
	for _, size := range []int{16, 64} { // a part of the line in the buffer, and all of it
		l = lines{in: bufio.NewReaderSize(strings.NewReader(long+"\nnext\n"), size)}
		if line, _, err := l.next(20); string(line) != long[:20] || l.size != 41 || err != nil {
			t.Errorf("buffer of %d: %q of %d bytes, %v", size, line, l.size, err)
		}
		if line, _, err := l.next(20); string(line) != "next\n" || l.size != 5 || err != nil {
			t.Errorf("buffer of %d: then %q of %d bytes, %v", size, line, l.size, err)
		}
	}
}
