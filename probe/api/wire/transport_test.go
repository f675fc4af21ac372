package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"sonde/probe/plain"
)

// serveOn answers connections one by one with f.
func serveOn(t *testing.T, f func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f(c)
		}
	}()
	return "http://" + l.Addr().String()
}

// Go's own server closes a connection that does not begin with HTTP/2's preface, with what
// was sent unread: the client sees a reset, or the end.
func TestTransportToAServerOfHTTP2Only(t *testing.T) {
	server := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	})}
	server.Protocols.SetUnencryptedHTTP2(true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	client := &http.Client{Transport: NewTransport(nil, nil)}
	for range 3 {
		resp, err := client.Get("http://" + l.Addr().String() + "/v1/models")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != "HTTP/2.0" {
			t.Errorf("spoken: %s", body)
		}
	}
}

// A server that hangs up whatever it is asked is reported by what it did to HTTP/1.
func TestTransportToAServerThatHangsUp(t *testing.T) {
	connections := 0
	url := serveOn(t, func(c net.Conn) {
		if connections++; connections == 1 {
			_ = c.(*net.TCPConn).SetLinger(0) // a reset
		}
		_ = c.Close()
	})
	_, err := (&http.Client{Transport: NewTransport(nil, nil)}).Get(url)
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if says := plain.Explain("h:1", err, 0).String(); strings.Contains(says, "http2") {
		t.Errorf("says %q", says)
	}
}

// broken is a connection whose server hung up after saying why.
type broken struct{ net.Conn }

func (broken) Write([]byte) (int, error) { return 0, &net.OpError{Op: "write", Err: syscall.EPIPE} }

func TestAHungUpServerIsStillRead(t *testing.T) {
	ours, theirs := net.Pipe()
	go func() { _, _ = io.WriteString(theirs, "why") }()
	c := &firstReply{Conn: broken{ours}}
	if n, err := c.Write([]byte("GET")); n != 3 || err != nil {
		t.Errorf("the write reports %d, %v", n, err)
	}
	said := make([]byte, 3)
	if _, err := io.ReadFull(c, said); err != nil || string(said) != "why" {
		t.Errorf("read %q, %v", said, err)
	}
}
