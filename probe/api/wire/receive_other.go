//go:build !(linux && (amd64 || arm64))

package wire

import "net"

// receiver reads plainly: this platform has no kernel stamps for TCP.
type receiver struct{}

func (*receiver) open(net.Conn) {}

func (*receiver) kernel() bool { return false }

func (*receiver) read(c net.Conn, p []byte) (int, Stamp, error) { return plainRead(c, p) }

func (*receiver) alive() bool { return true }
