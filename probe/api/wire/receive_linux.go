//go:build linux && (amd64 || arm64)

package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var bridge = newWallBridge()

// receiver reads a TCP socket with recvmsg and SO_TIMESTAMPNS: with every read
// comes the wall time at which the kernel received the newest segment in it.
// Everything a read needs is kept here, so that reading allocates nothing.
type receiver struct {
	raw     syscall.RawConn // nil: the kernel gives no stamps here
	msg     unix.Msghdr
	iov     unix.Iovec
	control [64]byte
	try     func(fd uintptr) bool // bound once: recv

	n      int
	errno  syscall.Errno
	readAt time.Time
}

func (r *receiver) open(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	var optErr error
	if err := raw.Control(func(fd uintptr) {
		optErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}); err != nil || optErr != nil {
		return
	}
	r.raw = raw
	r.try = r.recv
}

func (r *receiver) kernel() bool { return r.raw != nil }

func (r *receiver) read(c net.Conn, p []byte) (int, Stamp, error) {
	if r.raw == nil || len(p) == 0 {
		return plainRead(c, p)
	}
	r.iov.Base = &p[0]
	r.iov.SetLen(len(p))
	err := r.raw.Read(r.try)
	r.iov.Base = nil
	switch {
	case err != nil:
		return 0, Stamp{}, err
	case r.errno != 0:
		return 0, Stamp{}, os.NewSyscallError("recvmsg", r.errno)
	case r.n == 0:
		return 0, Stamp{}, io.EOF
	}
	return r.n, r.stamp(), nil
}

// recv tries one recvmsg; false means that there is nothing yet. It never waits
// in the kernel, so the scheduler need not know of it (RawSyscall): that saves
// its bookkeeping, and waking the runtime's monitor when all streams were idle.
func (r *receiver) recv(fd uintptr) bool {
	for {
		r.msg = unix.Msghdr{Iov: &r.iov, Control: &r.control[0]}
		r.msg.SetIovlen(1)
		r.msg.SetControllen(len(r.control))
		n, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.msg)), unix.MSG_DONTWAIT)
		switch errno {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		}
		r.readAt = time.Now()
		r.n, r.errno = int(n), errno
		return true
	}
}

// stamp takes the kernel's time from the control message of the last read, or
// the time of the read if there is none or it makes no sense.
func (r *receiver) stamp() Stamp {
	if wallNS, ok := r.kernelWallNS(); ok {
		if late, ok := bridge.late(r.readAt, wallNS); ok {
			return Stamp{At: r.readAt.Add(-late), Late: late, Kernel: true}
		}
	}
	return Stamp{At: r.readAt}
}

func (r *receiver) kernelWallNS() (int64, bool) {
	const need = unix.SizeofCmsghdr + int(unsafe.Sizeof(unix.Timespec{}))
	if int(r.msg.Controllen) < need {
		return 0, false
	}
	head := (*unix.Cmsghdr)(unsafe.Pointer(&r.control[0]))
	if head.Level != unix.SOL_SOCKET || head.Type != unix.SCM_TIMESTAMPNS {
		return 0, false
	}
	ts := (*unix.Timespec)(unsafe.Pointer(&r.control[unix.SizeofCmsghdr]))
	return ts.Nano(), true
}

// alive looks, without waiting and without taking anything, whether the peer has
// closed an idle connection.
func (r *receiver) alive() bool {
	if r.raw == nil {
		return true
	}
	alive := true
	err := r.raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		alive = err == unix.EAGAIN || n > 0
		return true
	})
	return alive && err == nil
}
