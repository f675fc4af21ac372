// Package wire is the network connection under TLS and HTTP. It knows when the
// first byte of a request left and when each received byte arrived: as the
// kernel saw it where the platform supports that, else when the read returned.
package wire

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Stamp is the arrival of the newest bytes that a Conn has read.
type Stamp struct {
	At     time.Time     // monotonic; never later than the read
	Late   time.Duration // how long the bytes lay in the socket before we read them
	Kernel bool          // At is the kernel's, not the read's
}

// Conn is a connection that stamps what goes through it. Read and Stamp belong
// to one goroutine; Write, ArmStart and Start may be another's.
type Conn struct {
	net.Conn
	receiver receiver // platform: reads with the kernel's stamp, or plainly
	stamp    Stamp

	start atomic.Pointer[time.Time] // of the request; nil until its first write

	idled    bool          // the newest read gave up after the idle time-out
	idle     time.Duration // give up after this long without a byte; 0 = never
	deadline time.Time     // read deadline in force
}

// NewConn wraps an established TCP connection.
func NewConn(c net.Conn) *Conn {
	conn := &Conn{Conn: c}
	conn.receiver.open(c)
	return conn
}

// KernelStamps reports whether the platform stamps arrivals on this connection.
func (c *Conn) KernelStamps() bool { return c.receiver.kernel() }

// ArmStart makes the next Write the start of a request.
func (c *Conn) ArmStart() { c.start.Store(nil) }

// Start is the moment just before the first Write since ArmStart; zero if
// nothing was written yet.
func (c *Conn) Start() time.Time {
	if start := c.start.Load(); start != nil {
		return *start
	}
	return time.Time{}
}

// Write stamps the first write of a request and passes it on.
func (c *Conn) Write(p []byte) (int, error) {
	if c.start.Load() == nil {
		now := time.Now()
		c.start.CompareAndSwap(nil, &now)
	}
	return c.Conn.Write(p)
}

// Read reads and remembers when the bytes arrived. Without a byte for the idle
// time-out it fails with os.ErrDeadlineExceeded.
func (c *Conn) Read(p []byte) (int, error) {
	c.extendDeadline()
	n, stamp, err := c.receiver.read(c.Conn, p)
	c.idled = errors.Is(err, os.ErrDeadlineExceeded)
	if n > 0 {
		// Bytes of a connection arrive in order. A segment that the kernel did not
		// stamp carries the later time of its read: what follows is no earlier.
		if stamp.At.Before(c.stamp.At) {
			stamp.At = c.stamp.At
		}
		c.stamp = stamp
	}
	return n, err
}

// Stamp is the arrival of the bytes that the last successful Read returned. If
// one read returned several segments it is the last one's.
func (c *Conn) Stamp() Stamp { return c.stamp }

// Idled reports whether the newest Read gave up because no byte came for the idle
// time-out. A parser above may return another error for it.
func (c *Conn) Idled() bool { return c.idled }

// SetIdle sets the idle time-out for the reads that follow; 0 switches it off.
func (c *Conn) SetIdle(d time.Duration) {
	c.idle = d
	c.deadline = time.Time{}
	if d == 0 {
		_ = c.Conn.SetReadDeadline(time.Time{})
	}
}

// idleGrain is the share of the idle time-out by which it may come late, so
// that not every read has to move the deadline.
const idleGrain = 16

func (c *Conn) extendDeadline() {
	if c.idle == 0 {
		return
	}
	now := time.Now()
	if c.deadline.Sub(now) >= c.idle {
		return
	}
	c.deadline = now.Add(c.idle + c.idle/idleGrain)
	_ = c.Conn.SetReadDeadline(c.deadline)
}

// plainRead stamps with the time at which the read returned.
func plainRead(c net.Conn, p []byte) (int, Stamp, error) {
	n, err := c.Read(p)
	return n, Stamp{At: time.Now()}, err
}

// Alive reports, without waiting, whether an idle connection is still open; true where
// the platform cannot know.
func (c *Conn) Alive() bool { return c.receiver.alive() }
