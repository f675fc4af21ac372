package truth

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// ask sends a request for so many tokens and reads the whole reply.
func ask(t *testing.T, c net.Conn, number, tokens int) (reply string) {
	t.Helper()
	body := fmt.Sprintf(`{"model":"truth","messages":[{"role":"user","content":"%d"}],"max_tokens":%d,"stream":true}`, number, tokens)
	req, err := http.NewRequest(http.MethodPost, "http://truth/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := req.Write(c); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// oneConn is a listener in virtual time: its connections are pipes.
type oneConn chan net.Conn

func (l oneConn) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (oneConn) Close() error   { return nil }
func (oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// TestServerKeepsItsSchedule runs two requests on one connection in virtual time:
// every write is due to the nanosecond, and the record says so.
func TestServerKeepsItsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		s := &server{epoch: time.Now()}
		s.next(Round{Streams: 2, Gap: 50 * ms})
		accepted := make(oneConn, 1)
		accepted <- theirs
		go s.serve(stamping{accepted})
		defer close(accepted)
		defer ours.Close()

		reply := ask(t, ours, 1, 3)
		if n := strings.Count(reply, `"content":"hello "`); n != 3 {
			t.Errorf("%d tokens in the reply, want 3", n)
		}
		if !strings.Contains(reply, `"completion_tokens":3`) || !strings.HasSuffix(reply, "data: [DONE]\n\n") {
			t.Errorf("usage or end mark is missing in %q", reply)
		}
		time.Sleep(7 * ms) // at 132 ms
		ask(t, ours, 2, 2)

		records := s.next(Round{Streams: 2, Gap: 50 * ms}).Records
		if len(records) != 2 {
			t.Fatalf("%d records, want 2", len(records))
		}
		for i, want := range []struct {
			number       int
			arrived, due time.Duration
			wrote        []int64
			took         []int64
		}{
			{1, 0, 25 * ms, []int64{25e6, 75e6, 125e6}, []int64{0, 0, 0}},
			{2, 132 * ms, 150 * ms, []int64{150e6, 200e6}, []int64{0, 0}},
		} {
			r := records[i]
			if r.Request != want.number || r.ArrivedNS != int64(want.arrived) || r.DueNS != int64(want.due) {
				t.Errorf("request %d came at %v, due at %v; want %+v", r.Request, time.Duration(r.ArrivedNS), time.Duration(r.DueNS), want)
			}
			if !slices.Equal(r.WroteNS, want.wrote) || !slices.Equal(r.TookNS, want.took) {
				t.Errorf("request %d: written at %v in %v, want %v in %v", r.Request, r.WroteNS, r.TookNS, want.wrote, want.took)
			}
		}
		if n := len(s.next(Round{}).Records); n != 0 {
			t.Errorf("a new round begins with %d records", n)
		}
	})
}

func TestNonsenseIsRefused(t *testing.T) {
	for _, body := range []string{
		`{`, `{"messages":[],"max_tokens":3}`, `{"messages":[{"content":"x"}],"max_tokens":3}`,
		`{"messages":[{"content":"-1"}],"max_tokens":3}`, `{"messages":[{"content":"1"}]}`, `{"messages":[{"content":"1"}],"max_tokens":99999999}`,
	} {
		if n, tokens, err := readRequest(strings.NewReader(body)); err == nil {
			t.Errorf("%s: taken as request %d for %d tokens", body, n, tokens)
		}
	}
}
