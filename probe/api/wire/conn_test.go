package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// link is a TCP connection on loopback: ours, and the peer's end of it.
func link(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialed, err := (&Dialer{Addr: l.Addr().String()}).Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialed.Close(); peer.Close() })
	return dialed.Wire, peer
}

// TestStampIsTheArrival: bytes that lay in the socket while we were busy carry
// the time at which they came.
func TestStampIsTheArrival(t *testing.T) {
	c, peer := link(t)
	if !c.KernelStamps() {
		t.Skip("this platform has no kernel stamps")
	}
	buf := make([]byte, 100)
	waitForStamps(t, c, peer)
	for range 5 {
		before := time.Now()
		if _, err := peer.Write([]byte("token")); err != nil {
			t.Fatal(err)
		}
		// On loopback the segment is in our socket when Write returns.
		after := time.Now()
		for time.Since(after) < 5*time.Millisecond {
		}
		if _, err := c.Read(buf); err != nil {
			t.Fatal(err)
		}
		s := c.Stamp()
		if !s.Kernel || s.At.Before(before.Add(-tolerance)) || s.At.After(after.Add(tolerance)) {
			t.Errorf("kernel %v: stamped %v after the write began, which took %v", s.Kernel, s.At.Sub(before), after.Sub(before))
		}
		if s.Late < 5*time.Millisecond-tolerance {
			t.Errorf("late by %v, but the bytes lay there for 5 ms", s.Late)
		}
	}
}

// waitForStamps sends bytes until one of them is stamped: the kernel begins a moment
// after the first socket of the machine has asked, in a task of its own that a busy
// machine runs late.
func waitForStamps(t *testing.T, c *Conn, peer net.Conn) {
	t.Helper()
	buf := make([]byte, 100)
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		if _, err := peer.Write([]byte("token")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(buf); err != nil {
			t.Fatal(err)
		}
		if c.Stamp().Kernel {
			return
		}
	}
	t.Fatal("the kernel stamps nothing")
}

func TestIdleTimeout(t *testing.T) {
	c, _ := link(t)
	c.SetIdle(20 * time.Millisecond)
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestEndAndClose(t *testing.T) {
	c, peer := link(t)
	if !c.Alive() {
		t.Error("an open connection counts as closed")
	}
	peer.Close()
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("error %v, want EOF", err)
	}
	if c.KernelStamps() && c.Alive() {
		t.Error("a closed connection counts as open")
	}
	c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v, want closed", err)
	}
}

func TestStartIsTheFirstWrite(t *testing.T) {
	c, peer := link(t)
	go io.Copy(io.Discard, peer)
	c.ArmStart()
	if !c.Start().IsZero() {
		t.Error("a start before any write")
	}
	before := time.Now()
	c.Write([]byte("a"))
	start := c.Start()
	c.Write([]byte("b"))
	if start.Before(before) || c.Start() != start {
		t.Errorf("start %v after the first write, then %v", start.Sub(before), c.Start().Sub(before))
	}
}

func TestHandshakeFailureIsTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			c.Close()
		}
	}()
	_, err = (&Dialer{Addr: l.Addr().String(), TLS: &tls.Config{ServerName: "x"}}).Dial(context.Background())
	if !errors.Is(err, ErrTLS) {
		t.Errorf("error %v is none of TLS", err)
	}
}
