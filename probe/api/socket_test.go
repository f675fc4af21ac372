package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/probe/guard"
	"sonde/probe/measure"
)

// wireServer answers every connection's first request with what answer writes.
func wireServer(t *testing.T, answer func(c *net.TCPConn, req *http.Request)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	fail := func(err error) { t.Error(err) }
	guard.Go("listener", fail, func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			guard.Go("connection", fail, func() {
				defer c.Close()
				req, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				if req.Body != nil {
					_, _ = io.Copy(io.Discard, io.LimitReader(req.Body, req.ContentLength))
				}
				answer(c.(*net.TCPConn), req)
			})
		}
	})
	return "http://" + l.Addr().String()
}

// byteByByte writes a text one byte at a time, each a segment of its own.
func byteByByte(c net.Conn, text string) {
	for i := range len(text) {
		if _, err := c.Write([]byte{text[i]}); err != nil {
			return
		}
	}
}

func TestRecordedRepliesOverASocket(t *testing.T) {
	raw, err := os.ReadFile("testdata/streams/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expectation
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		body, err := os.ReadFile(filepath.Join("testdata/streams", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(body) > 10_000 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			at := wireServer(t, func(c *net.TCPConn, _ *http.Request) {
				byteByByte(c, headOf(want)+string(body))
			})
			res := real(t, at, nil).Do(context.Background(), Call{Text: "x", MaxTokens: 3, KeepText: true}, quiet{})
			compare(t, &res, want)
		})
	}
}

func TestResetAfterTokens(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct {
		body string
		want measure.Class
	}{
		"in the middle":       {chunked(content("a") + content("b")), measure.ConnectionLost},
		"after the finish":    {chunked(content("a") + finished("stop")), measure.OK},
		"before the first":    {"", measure.ConnectionLost},
		"inside of one chunk": {"ffff\r\n" + content("a"), measure.ConnectionLost},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan struct{}, 1)
			at := wireServer(t, func(conn *net.TCPConn, _ *http.Request) {
				_, _ = io.WriteString(conn, head+c.body)
				<-seen // a reset throws away what was not read
				_ = conn.SetLinger(0)
			})
			res := real(t, at, nil).Do(context.Background(), Call{Text: "x"}, observed{tokens: strings.Count(c.body, "content"), seen: seen, count: new(int)})
			if res.Class != c.want {
				t.Errorf("class %q (%s), want %q", res.Class, res.Error, c.want)
			}
			if c.want == measure.ConnectionLost && res.OutTokens != strings.Count(c.body, "content") {
				t.Errorf("%d partial tokens, want %d", res.OutTokens, strings.Count(c.body, "content"))
			}
		})
	}
}

// observed tells when so many tokens have come; with none, when the request was
// sent.
type observed struct {
	tokens int
	count  *int
	seen   chan<- struct{}
}

func (o observed) Sent(time.Duration) { o.tell() }

func (o observed) Token(_, _ time.Duration, _ int) {
	*o.count++
	o.tell()
}

func (o observed) tell() {
	if *o.count == o.tokens {
		o.seen <- struct{}{}
	}
}

func TestThroughAProxy(t *testing.T) {
	asked := make(chan string, 9)
	proxy := wireServer(t, func(c *net.TCPConn, req *http.Request) {
		asked <- req.Method + " " + req.RequestURI + " " + req.Header.Get("Proxy-Authorization")
		if req.Method == http.MethodConnect {
			_, _ = io.WriteString(c, "HTTP/1.1 403 No\r\n\r\n")
			return
		}
		_, _ = io.WriteString(c, streamHead+content("a")+finished("stop")+doneMark)
	})
	through := func(target string) Result {
		c := real(t, target, nil)
		at, err := url.Parse(strings.Replace(proxy, "http://", "http://u:p@", 1))
		if err != nil {
			t.Fatal(err)
		}
		c.proxy, c.pool.dialer.Proxy = at, at
		c.useHeader(c.target.Load())
		return c.Do(context.Background(), Call{Text: "x"}, quiet{})
	}
	if res := through("http://far.invalid:8000"); res.Class != measure.OK || res.Chunks != 1 {
		t.Errorf("http: class %q (%s)", res.Class, res.Error)
	}
	if res := through("https://far.invalid"); res.Class != measure.Connect || !strings.Contains(res.Error, "proxy") || strings.Contains(res.Error, "u:p") {
		t.Errorf("a refused tunnel: class %q (%s)", res.Class, res.Error)
	}
	for _, want := range []string{"POST http://far.invalid:8000/v1/chat/completions Basic dTpw", "CONNECT far.invalid:443 Basic dTpw"} {
		if got := <-asked; got != want {
			t.Errorf("the proxy was asked %q, want %q", got, want)
		}
	}
}
