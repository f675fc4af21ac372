package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
)

// fast is a machine that makes tests short: 20 times the speed.
var fast = core.Options{Speed: 20}

// newEngine makes the interface of an engine that has not started.
func newEngine(t *testing.T, o core.Options) *API {
	t.Helper()
	s, err := o.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	m := NewMetrics(&s)
	d := core.NewDriver(s, m)
	return New(&s, d, faults.NewTimetable(d, s.Faults), m)
}

// serve runs an engine until the end of the test.
func serve(t *testing.T, o core.Options) (url string) {
	t.Helper()
	a := newEngine(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	a.driver.Start(ctx)
	server := httptest.NewServer(a)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		cancel()
		if <-a.driver.Ended; a.driver.Failure() != nil {
			t.Errorf("the engine ended with %v", a.driver.Failure())
		}
	})
	return server.URL
}

func post(t *testing.T, url string, body map[string]any) *http.Response {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return call(t, "POST", url, string(b))
}

func call(t *testing.T, method, url, body string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Body.Close() })
	return r
}

func decoded(t *testing.T, r *http.Response) (v map[string]any) {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func user(text string) []any { return []any{map[string]any{"role": "user", "content": text}} }

// streamed is what a client sees of a stream.
type streamed struct {
	events []map[string]any
	text   string
	tokens int
	finish string
	usage  map[string]any // the last one
	usages int
	done   bool
}

func readStream(t *testing.T, body io.Reader) (s streamed) {
	t.Helper()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case lines.Text() == "":
		case !ok || s.done:
			t.Fatalf("unexpected line %q", lines.Text())
		case data == "[DONE]":
			s.done = true
		default:
			s.add(t, data)
		}
	}
	return s
}

func (s *streamed) add(t *testing.T, data string) {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	s.events = append(s.events, e)
	if u, ok := e["usage"].(map[string]any); ok {
		s.usage = u
		s.usages++
	}
	for _, c := range e["choices"].([]any) {
		choice := c.(map[string]any)
		text, _ := choice["text"].(string)
		if delta, ok := choice["delta"].(map[string]any); ok {
			text, _ = delta["content"].(string)
		}
		if text != "" {
			s.text += text
			s.tokens++
		}
		if f, ok := choice["finish_reason"].(string); ok {
			s.finish = f
		}
	}
}
