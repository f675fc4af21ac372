package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// step is one write of a scripted server, at a time after the request arrived.
type step struct {
	atMS int
	text string
}

// script answers one request: a head, then the steps. Bodies end with the
// connection, unless keep is set.
type script struct {
	head  string // status line and headers; "" is a 200 event stream
	steps []step
	hold  bool // leave the connection open and silent after the last step
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// Chunks of the shorthand in which the cases are written.
func event(json string) string { return "data: " + json + "\n\n" }
func roleChunk(rest string) string {
	return event(`{"choices":[{"index":0,"delta":{"role":"assistant"` + rest + `}}]}`)
}
func content(x string) string {
	return event(`{"choices":[{"index":0,"delta":{"content":"` + x + `"}}]}`)
}
func finished(reason string) string {
	return event(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
}
func usageChunk(p, c int) string {
	return event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, p, c))
}

const doneMark = "data: [DONE]\n\n"

// server is a scripted server in memory: time in it is the bubble's.
type server struct {
	t       *testing.T
	scripts []script // one per request, the last repeats
	delay   time.Duration

	mu       sync.Mutex
	requests []string // bodies
	heads    []http.Header
	paths    []string
	closed   []time.Duration // when clients hung up
	began    time.Time
	group    sync.WaitGroup
}

func (s *server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if s.delay > 0 {
		time.Sleep(s.delay)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	s.group.Go(func() { s.serve(theirs) })
	return ours, nil
}

func (s *server) serve(c net.Conn) {
	defer c.Close()
	br := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(req.Body)
		if !s.answer(c, s.next(req, string(body))) {
			return
		}
	}
}

func (s *server) next(req *http.Request, body string) script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, body)
	s.heads = append(s.heads, req.Header)
	s.paths = append(s.paths, req.URL.RequestURI())
	return s.scripts[min(len(s.requests), len(s.scripts))-1]
}

// answer plays a script; false ends the connection.
func (s *server) answer(c net.Conn, sc script) bool {
	start := time.Now()
	head := sc.head
	if head == "" {
		head = streamHead
	}
	if _, err := io.WriteString(c, head); err != nil {
		return false
	}
	for _, st := range sc.steps {
		time.Sleep(time.Until(start.Add(time.Duration(st.atMS) * time.Millisecond)))
		if _, err := io.WriteString(c, st.text); err != nil {
			return false
		}
	}
	if sc.hold {
		_, _ = c.Read(make([]byte, 1))
		s.mu.Lock()
		s.closed = append(s.closed, time.Since(s.began))
		s.mu.Unlock()
		return false
	}
	return strings.Contains(head, "Content-Length") && !strings.Contains(head, "Connection: close")
}

// quiet sees a request's life and notes nothing.
type quiet struct{}

func (quiet) Sent(time.Duration)              {}
func (quiet) Token(_, _ time.Duration, _ int) {}

// inBubble runs f in virtual time with a client of the scripted server.
func inBubble(t *testing.T, s *server, change func(*Options), f func(c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.t, s.began = t, time.Now()
		addr, err := ParseAddress("http://server:8000", Chat)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Address: addr, Kind: Chat, Model: "m", Idle: 60 * time.Second, Epoch: time.Now(), Dial: s.dial}
		if change != nil {
			change(&opt)
		}
		c, err := NewClient(opt)
		if err != nil {
			t.Fatal(err)
		}
		f(c)
		c.Close()
		s.group.Wait()
	})
}

// once makes one request of a server that plays the script.
func once(t *testing.T, sc script) Result {
	t.Helper()
	var res Result
	inBubble(t, &server{scripts: []script{sc}}, nil, func(c *Client) {
		res = c.Do(context.Background(), Call{Text: "hello", MaxTokens: 5, KeepText: true}, quiet{})
	})
	return res
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// latency is a latency's value, or −1 if it has none.
func latency(v float64, ok bool) float64 {
	if !ok {
		return -1
	}
	return v
}

// chunked frames a body as one chunk of HTTP's chunked coding.
func chunked(body string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }
