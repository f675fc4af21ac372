package simtest

import (
	"context"
	"net"
	"sync"
)

// network is a listener whose connections are pipes within the process, so that
// virtual time passes while both ends wait.
type network struct {
	arrivals chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newNetwork() *network {
	return &network{arrivals: make(chan net.Conn), closed: make(chan struct{})}
}

// dial opens a connection, whatever the address is.
func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case n.arrivals <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Accept hands a dialled connection to the server.
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.arrivals:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and refuses new connections.
func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr is the address that the Session is told.
func (n *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000} }
