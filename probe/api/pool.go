package api

import (
	"bufio"
	"context"
	"sync"
	"time"

	"sonde/probe/api/wire"
)

// pooled is a connection with the reader that HTTP uses on it.
type pooled struct {
	*wire.Link
	br   *bufio.Reader
	h2   *wire.HTTP2 // nil: HTTP/1.1
	line []byte      // where the lines of a stream are put together
	used bool
}

// A thousand streams are a thousand read buffers: they hold a burst of about
// twenty chunks. Longer lines are put together in a larger buffer of their own. The write buffer lets an ordinary request leave in one write; it
// is needed for that moment only.
const (
	readBufferBytes  = 4 << 10
	lineBufferBytes  = 1 << 10
	writeBufferBytes = 64 << 10
)

var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeBufferBytes) }}

// pool keeps idle connections to one origin. Each stream has a connection to
// itself; only the number of streams limits them.
type pool struct {
	dialer *wire.Dialer

	mu     sync.Mutex
	idle   []*pooled // newest last: it is the least likely to have been closed
	closed bool
}

// take returns an idle connection that still stands, or dials a new one. With
// fresh it always dials.
func (p *pool) take(ctx context.Context, fresh bool) (*pooled, error) {
	for !fresh {
		c := p.pop()
		if c == nil {
			break
		}
		if c.Wire.Alive() {
			return c, nil
		}
		_ = c.Close()
	}
	link, err := p.dialer.Dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &pooled{Link: link, br: bufio.NewReaderSize(link, readBufferBytes), line: make([]byte, lineBufferBytes)}
	if link.HTTP2 {
		c.h2 = wire.NewHTTP2(c.br, link)
	}
	return c, nil
}

func (p *pool) pop() *pooled {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return c
}

// give puts a connection back whose reply was read to its end.
func (p *pool) give(c *pooled) {
	c.Wire.SetIdle(0)
	_ = c.SetDeadline(time.Time{})
	c.used = true
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return
	}
	p.idle = append(p.idle, c)
}

// drop closes the idle connections.
func (p *pool) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		_ = c.Close()
	}
	p.idle = nil
}

// close drops all idle connections, and those that come back later.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.drop()
}
