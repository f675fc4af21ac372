package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// chunkedBody takes HTTP's chunked coding apart. Unlike net/http's reader it returns what
// has arrived of a chunk without waiting for the rest of it: a server may put many
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

func (b *chunkedBody) Read(p []byte) (int, error) {
	for b.err == nil && b.left == 0 {
		b.err = b.header()
	}
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.br.Read(p[:min(uint64(len(p)), b.left)])
	b.left -= uint64(n)
	b.err = unexpected(err)
	return n, b.err
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
