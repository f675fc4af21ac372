package wire

import (
	"net"
	"time"
)

// plainRead stamps with the time at which the read returned.
func plainRead(c net.Conn, p []byte) (int, Stamp, error) {
	n, err := c.Read(p)
	return n, Stamp{At: time.Now()}, err
}

// Alive looks, without waiting, whether an idle connection is still open. Where
// the platform cannot tell, it says yes.
func (c *Conn) Alive() bool { return c.receiver.alive() }
