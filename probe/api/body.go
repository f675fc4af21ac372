package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// segments hands out a body in the pieces in which it lies in memory, as they
// arrive. A piece is never empty and stays valid until the next call. The body
// ends with io.EOF.
type segments interface {
	next() ([]byte, error)
}

// plainBody is a body that a reader yields.
type plainBody struct {
	r   io.Reader
	buf []byte
	err error // came with the last piece
}

func newPlainBody(r io.Reader) *plainBody {
	return &plainBody{r: r, buf: make([]byte, readBufferBytes)}
}

func (b *plainBody) next() ([]byte, error) {
	for b.err == nil {
		var n int
		n, b.err = b.r.Read(b.buf)
		if n > 0 {
			return b.buf[:n], nil
		}
	}
	return nil, b.err
}

// chunkedBody takes HTTP's chunked coding apart within the connection's own
// buffer. Unlike net/http's reader it copies nothing and returns what has
// arrived of a chunk without waiting for the rest of it: a server may put many
// events into one chunk and take its time over them.
type chunkedBody struct {
	br   *bufio.Reader
	left uint64 // bytes of the present chunk that were not handed out
	open bool   // inside a chunk: its end mark is due once left is 0
	err  error
}

const maxTrailerBytes = 64 << 10 // all fields after the last chunk

var (
	errChunkSize    = errors.New("malformed chunked response: invalid chunk size")
	errChunkEnd     = errors.New("malformed chunked response: a chunk does not end where its size says")
	errChunkLine    = errors.New("malformed chunked response: a chunk size line is too long")
	errChunkTrailer = errors.New("malformed chunked response: more than 64 KiB after the last chunk")
)

func (b *chunkedBody) next() ([]byte, error) {
	for b.err == nil && b.left == 0 {
		b.err = b.header()
	}
	if b.err != nil {
		return nil, b.err
	}
	if b.br.Buffered() == 0 {
		if _, err := b.br.Peek(1); err != nil {
			b.err = unexpected(err)
			return nil, b.err
		}
	}
	n := int(min(uint64(b.br.Buffered()), b.left))
	piece, _ := b.br.Peek(n)
	_, _ = b.br.Discard(n)
	b.left -= uint64(n)
	return piece, nil
}

// header goes from the end of one chunk to the data of the next. After the last
// chunk it is io.EOF.
func (b *chunkedBody) header() error {
	if b.open {
		end, err := b.line()
		if err != nil {
			return err
		}
		if len(end) > 0 {
			return errChunkEnd
		}
	}
	line, err := b.line()
	if err != nil {
		return err
	}
	size, ok := chunkSize(line)
	switch {
	case !ok:
		return errChunkSize
	case size == 0:
		return b.trailer()
	}
	b.left, b.open = size, true
	return nil
}

// trailer reads the fields after the last chunk, which are not needed, up to the
// blank line that ends the body.
func (b *chunkedBody) trailer() error {
	long := false // within a field that the buffer cannot hold
	for rest := maxTrailerBytes; rest > 0; {
		line, err := b.line()
		switch {
		case err != nil && err != errChunkLine:
			return err
		case len(line) == 0 && !long:
			return io.EOF
		}
		long = err == errChunkLine
		rest -= len(line)
	}
	return errChunkTrailer
}

// line reads one line without its end mark; of a line that is longer than the buffer only
// a part. It is valid until the next read.
func (b *chunkedBody) line() ([]byte, error) {
	line, err := b.br.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		return line, errChunkLine
	case err != nil:
		return nil, unexpected(err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// unexpected is the error of a connection that ends within a body.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// chunkSize reads the hexadecimal size at the front of a line; chunk
// extensions after it are ignored.
func chunkSize(line []byte) (size uint64, ok bool) {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 60)
	return size, err == nil
}
