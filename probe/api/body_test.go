package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httputil"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"sonde/probe/measure"
)

// unchunk reads a chunked body to its end, through a connection's small buffer.
func unchunk(r io.Reader) (string, error) {
	b := &chunkedBody{br: bufio.NewReaderSize(r, 128)}
	var all strings.Builder
	_, err := io.Copy(&all, b)
	if _, again := b.Read(make([]byte, 1)); err != nil && again != err {
		return all.String(), errors.New("the end does not last")
	}
	return all.String(), err
}

func TestChunkedCoding(t *testing.T) {
	long, longer := strings.Repeat("x", 100), strings.Repeat("x", 1000)
	for _, c := range []struct {
		name, coded, body string
		err               error
	}{
		{name: "two chunks", coded: "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", body: "hello world"},
		{name: "no chunk", coded: "0\r\n\r\n"},
		{name: "more than the buffer holds", coded: "64\r\n" + long + "\r\n0\r\n\r\n", body: long},
		{name: "size in capitals, with zeros in front", coded: "00000000000000000000A\r\n0123456789\r\n000\r\n\r\n", body: "0123456789"},
		{name: "extensions", coded: "5;a=b;c=\"d\"\r\nhello\r\n0;last\r\n\r\n", body: "hello"},
		{name: "a long extension", coded: "5;" + long + "\r\nhello\r\n0\r\n\r\n", body: "hello"},
		{name: "space after the size", coded: "5 \t\r\nhello\r\n0 \r\n\r\n", body: "hello"},
		{name: "line feeds alone", coded: "5\nhello\n0\n\n", body: "hello"},
		{name: "trailers", coded: "5\r\nhello\r\n0\r\nA: b\r\nC: " + longer + "\r\n\r\n", body: "hello"},
		{name: "what follows stays", coded: "5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", body: "hello"},

		{name: "nothing", coded: "", err: io.ErrUnexpectedEOF},
		{name: "ends in a size", coded: "5", err: io.ErrUnexpectedEOF},
		{name: "ends in a chunk", coded: "5\r\nhel", body: "hel", err: io.ErrUnexpectedEOF},
		{name: "ends after a chunk", coded: "5\r\nhello", body: "hello", err: io.ErrUnexpectedEOF},
		{name: "ends before the last chunk", coded: "5\r\nhello\r\n", body: "hello", err: io.ErrUnexpectedEOF},
		{name: "ends in the trailers", coded: "5\r\nhello\r\n0\r\nA: b\r\n", body: "hello", err: io.ErrUnexpectedEOF},
		{name: "no size", coded: "\r\nhello\r\n", err: errChunkSize},
		{name: "only an extension", coded: ";a\r\nhello\r\n", err: errChunkSize},
		{name: "no digits", coded: "5x\r\nhello\r\n", err: errChunkSize},
		{name: "a negative size", coded: "-5\r\nhello\r\n", err: errChunkSize},
		{name: "a size over any limit", coded: "10000000000000005\r\nhello\r\n", err: errChunkSize},
		{name: "a chunk longer than its size", coded: "3\r\nhello\r\n0\r\n\r\n", body: "hel", err: errChunkEnd},
		{name: "an endless size line", coded: "5;" + strings.Repeat("x", 8<<10), err: errChunkLine},
		{name: "endless trailers", coded: "0\r\n" + strings.Repeat("A: b\r\n", 20<<10), err: errChunkTrailer},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.coded), "byte by byte": iotest.OneByteReader(strings.NewReader(c.coded))} {
				if body, err := unchunk(r); body != c.body || err != c.err {
					t.Errorf("%s: %q, %v; want %q, %v", how, body, err, c.body, c.err)
				}
			}
		})
	}
}

// TestBrokenConnectionInAChunk: the connection's own error comes through.
func TestBrokenConnectionInAChunk(t *testing.T) {
	broken := errors.New("reset")
	body, err := unchunk(io.MultiReader(strings.NewReader("5\r\nhel"), iotest.ErrReader(broken)))
	if body != "hel" || err != broken {
		t.Errorf("%q, %v", body, err)
	}
}

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// TestEventsInAnUnfinishedChunk: what arrived of a chunk counts when it arrives,
// though the chunk is complete only much later.
func TestEventsInAnUnfinishedChunk(t *testing.T) {
	all := chunked(content("a") + content("b") + finished("stop") + usageChunk(5, 2) + doneMark)
	second := strings.Index(all, content("b"))
	end := second + len(content("b"))
	res := once(t, script{head: chunkedHead, steps: []step{{250, all[:second]}, {270, all[second:end]}, {600, all[end:] + "0\r\n\r\n"}}})
	check(t, &res, usual)
	if res.Coalesced != 0 {
		t.Errorf("%d chunks share a stamp", res.Coalesced)
	}
}

// TestChunkMarksBetweenEvents: an event split over chunks counts when it is
// whole, and a chunk's end mark that comes late holds nothing up.
func TestChunkMarksBetweenEvents(t *testing.T) {
	a, b := content("a"), content("b")
	res := once(t, script{head: chunkedHead, steps: []step{
		{100, chunked(a[:20])}, {250, chunked(a[20:])}, {270, strings.TrimSuffix(chunked(b), "\r\n")},
		{400, "\r\n" + chunked(finished("stop")+usageChunk(5, 2)+doneMark) + "0\r\n\r\n"},
	}})
	check(t, &res, usual)
}

func TestChunkedConnectionServesAgain(t *testing.T) {
	kept := script{head: strings.Replace(chunkedHead, "\r\n\r\n", "\r\nX-Note: Content-Length\r\n\r\n", 1), // kept open by the script
		steps: []step{{50, chunked(content("a")+finished("stop")+doneMark) + "0\r\nX-Trailer: x\r\n\r\n"}}}
	inBubble(t, &server{scripts: []script{kept}}, nil, func(c *Client) {
		for i := range 3 {
			res := c.Do(context.Background(), Call{Text: "x"}, quiet{})
			if got, _ := res.TTFT(); res.Class != measure.OK || res.Reused != (i > 0) || got != 50 {
				t.Errorf("request %d: class %q (%s), reused %v, TTFT %v", i, res.Class, res.Error, res.Reused, got)
			}
		}
	})
}

func TestEndMarkInAnUnfinishedChunk(t *testing.T) {
	all := chunked(content("a") + finished("stop") + doneMark + strings.Repeat(" ", 100))
	inBubble(t, &server{scripts: []script{{head: chunkedHead, steps: []step{{100, all[:len(all)-50]}}, hold: true}}}, nil, func(c *Client) {
		began := time.Now()
		res := c.Do(context.Background(), Call{Text: "x"}, quiet{})
		if busy := time.Since(began); res.Class != measure.OK || busy > 150*time.Millisecond {
			t.Errorf("class %q (%s), the slot was held for %v though the answer ended after 100 ms", res.Class, res.Error, busy)
		}
	})
}

// FuzzChunkedBody: what net/http's reader takes, ours reads the same, however it
// arrives; and a body that we frame comes out as it was.
func FuzzChunkedBody(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n0\r\n\r\n"), 3)
	f.Add([]byte("a;x=y\r\n0123456789\r\n0\r\nA: b\r\n\r\n"), 7)
	f.Add([]byte(content("a")+doneMark), 20)
	f.Fuzz(func(t *testing.T, raw []byte, size int) {
		theirs, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(raw)))
		ours, ourErr := unchunk(bytes.NewReader(raw))
		slow, slowErr := unchunk(iotest.OneByteReader(bytes.NewReader(raw)))
		if err == nil && ours != string(theirs) {
			t.Errorf("%q: read as %q (%v), want %q", raw, ours, ourErr, theirs)
		}
		if slow != ours || slowErr != ourErr {
			t.Errorf("%q: byte by byte %q, %v; at once %q, %v", raw, slow, slowErr, ours, ourErr)
		}
		var coded strings.Builder
		for rest := string(raw); rest != ""; {
			n := min(max(1, size), len(rest))
			coded.WriteString(chunked(rest[:n]))
			rest = rest[n:]
		}
		if got, err := unchunk(strings.NewReader(coded.String() + "0\r\n\r\n")); got != string(raw) || err != nil {
			t.Errorf("%q in chunks of %d comes out as %q, %v", raw, size, got, err)
		}
	})
}
