package api

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sonde/probe/api/wire"
	"sonde/probe/measure"
	"sonde/probe/plain"
)

// Result is a request that ended.
type Result struct {
	measure.Request
	Head    time.Duration // when the head of the reply arrived; 0 if none did
	Opening int           // objects without a token before the first token, such as a role-only chunk
	Status  int           // HTTP status of the reply, or of the last one if the request was repeated; 0 if none came
	Text    string        // the answer without its reasoning, if the call keeps it; at most 1 MiB
}

const (
	maxAttempts     = 4        // with those after a refused field, a wrong path or a redirect
	maxErrorBody    = 64 << 10 // bytes of an error body that are read
	maxMessageRunes = 300      // of a server's error message that are kept
	drainPatience   = 25 * time.Millisecond
)

// Do makes one request and returns when its answer has ended. Cancelling the
// context closes the connection, which stops the generation on the server.
//
// A request is repeated, with new stamps, if the server refuses an optional
// field, answers at another path, or had closed the connection while it was idle.
func (c *Client) Do(ctx context.Context, call Call, obs Observer) Result {
	var x, silent exchange
	fresh := false
	for range maxAttempts {
		x = exchange{client: c, ctx: ctx, obs: obs, off: c.dialect.off.Load(), target: c.target.Load()}
		x.settle(x.run(call, fresh))
		fresh = fresh || x.staleConnection()
		if x.silent() && c.pool.dialer.OnlyHTTP2() {
			silent = x
		}
		if !x.wantsHTTP2() && !x.staleConnection() && !x.adapt() {
			break
		}
	}
	if silent.client != nil && x.Status == 0 { // it was not for want of HTTP/2
		c.pool.dialer.NotHTTP2()
		return silent.Result
	}
	return x.Result
}

// exchange is one attempt at one request.
type exchange struct {
	client *Client
	ctx    context.Context
	obs    Observer
	off    uint32 // features that were switched off when the body was built
	target *url.URL

	Result
	conn     *pooled
	sent     bool // the request is on its way: Start is valid
	ended    bool // End is valid
	location string
}

func (x *exchange) run(call Call, fresh bool) error {
	body, err := x.client.dialect.body(call)
	if err != nil {
		return fail(measure.BadReply, "the prompt cannot be encoded: "+err.Error())
	}
	if x.conn, err = x.client.pool.take(x.ctx, fresh); err != nil {
		return dialFailure(x.ctx, x.client.pool.dialer, err)
	}
	x.Reused = x.conn.used
	if !x.conn.used {
		x.Setup = x.conn.Setup
	}
	x.client.stamps.Store(x.conn.Wire.KernelStamps())
	stop := context.AfterFunc(x.ctx, func() { _ = x.conn.Wire.Close() })
	defer stop()
	reusable, err := x.roundTrip(call, body)
	if err == nil && reusable && stop() {
		x.client.pool.give(x.conn)
	} else {
		_ = x.conn.Wire.Close()
	}
	return err
}

// roundTrip sends the request and reads the whole answer. The connection is
// reusable if the answer was read to its end.
func (x *exchange) roundTrip(call Call, body []byte) (reusable bool, err error) {
	x.conn.Wire.SetIdle(x.client.opt.Idle)
	x.conn.Wire.ArmStart()
	req := x.client.request(x.ctx, body)
	if err := x.write(req); err != nil {
		return false, x.causeOf(err)
	}
	x.Start, x.sent = x.since(x.conn.Wire.Start()), true
	x.obs.Sent(x.Start)
	resp, err := x.response(req)
	if err != nil {
		return false, err
	}
	x.Status = resp.StatusCode
	x.Head = x.since(x.conn.Wire.Stamp().At)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return x.refused(resp)
	}
	return x.accepted(resp, call.KeepText)
}

func (x *exchange) write(req *http.Request) error {
	if idle := x.client.opt.Idle; idle > 0 {
		_ = x.conn.Wire.SetWriteDeadline(time.Now().Add(idle))
	}
	if x.conn.h2 != nil {
		return x.conn.h2.Send(req)
	}
	write := req.Write
	if x.client.pool.dialer.Forwards() {
		write = req.WriteProxy
	}
	bw := writers.Get().(*bufio.Writer)
	defer writers.Put(bw)
	bw.Reset(x.conn)
	defer bw.Reset(nil) // the pool keeps no connection alive
	if err := write(bw); err != nil {
		return err
	}
	return bw.Flush()
}

// causeOf looks for the reason why a request could not be written: a server that refuses
// the client's certificate says so after the handshake, one that speaks HTTP/2 at once.
func (x *exchange) causeOf(err error) error {
	if x.conn.h2 != nil {
		return err
	}
	x.conn.Wire.SetIdle(drainPatience)
	begin, readErr := x.conn.br.Peek(len("HTTP/"))
	if _, alert := plain.Alert(readErr); alert {
		return readErr
	}
	if wire.IsHTTP2(begin) {
		x.client.pool.dialer.OnlyHTTP2()
	}
	return err
}

// response reads the head of the reply. It skips interim replies (1xx).
func (x *exchange) response(req *http.Request) (*http.Response, error) {
	if x.conn.h2 != nil {
		return x.conn.h2.Response()
	}
	if begin, err := x.conn.br.Peek(len("HTTP/")); err == nil && wire.IsHTTP2(begin) {
		x.client.pool.dialer.OnlyHTTP2()
		return nil, fail(measure.BadReply, "the server speaks HTTP/2 only")
	}
	for {
		resp, err := http.ReadResponse(x.conn.br, req)
		if err != nil || resp.StatusCode >= 200 {
			return resp, err
		}
	}
}

func (x *exchange) refused(resp *http.Response) (reusable bool, err error) {
	x.RetryAfter = retryAfter(resp.Header, time.Now())
	x.location = resp.Header.Get("Location")
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	x.endAt(x.now())
	f := statusFailure(resp.StatusCode, body)
	if to, err := x.target.Parse(x.location); err == nil && x.location != "" && f.class == measure.Redirect {
		f.message = plain.Redirect(to.String()).String()
	}
	if f.message == "" {
		f.message = http.StatusText(resp.StatusCode)
	}
	f.message = strconv.Itoa(resp.StatusCode) + ": " + f.message
	if x.client.pool.dialer.Forwards() && (resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusProxyAuthRequired) {
		f.message = "via proxy " + x.client.proxy.Host + ": " + f.message
	}
	return false, f
}

func (x *exchange) accepted(resp *http.Response, keepText bool) (reusable bool, err error) {
	body := io.Reader(resp.Body)
	if slices.Equal(resp.TransferEncoding, []string{"chunked"}) {
		body = &chunkedBody{br: x.conn.br}
	}
	switch coding := resp.Header.Get("Content-Encoding"); coding {
	case "", "identity":
	case "gzip":
		if body, err = gzip.NewReader(body); err != nil {
			return false, fail(measure.BadReply, "response is not valid gzip: "+err.Error())
		}
	default:
		return false, fail(measure.BadReply, "response has Content-Encoding "+coding+", identity was requested")
	}
	a := answer{rec: &x.Request, obs: x.obs, wire: x.conn.Wire, epoch: x.client.opt.Epoch}
	s := stream{lines: newLines(body, x.conn.line), sink: a.chunk, decoder: decoder{keep: keepText}}
	if strings.Contains(resp.Header.Get("Content-Type"), "application/json") {
		s.class = measure.BadReply // most likely no stream had begun
	}
	err = s.read()
	x.endAt(x.now())
	if s.done {
		x.endAt(x.since(x.conn.Wire.Stamp().At))
	}
	x.Text = string(s.text)
	contradiction := a.count(&s)
	x.Streamed, x.Opening, x.Note = !s.whole, a.opening, cmp.Or(contradiction, s.note())
	if err == nil && x.Chunks == 0 && !s.whole {
		err = fail(measure.Empty, "response completed without a token")
	}
	return err == nil && x.drain(resp, body), err
}

// drain reads what follows the end mark, so that the connection can serve again.
// It does not wait for a server that keeps the reply open: the slot is needed.
func (x *exchange) drain(resp *http.Response, body io.Reader) bool {
	if resp.Close {
		return false
	}
	x.conn.Wire.SetIdle(0)
	_ = x.conn.Wire.SetReadDeadline(time.Now().Add(drainPatience))
	left := io.LimitedReader{R: body, N: maxErrorBody}
	_, err := io.Copy(io.Discard, &left)
	return err == nil && left.N > 0
}

// settle turns the error of an attempt into the record's class.
func (x *exchange) settle(err error) {
	if !x.ended {
		x.End = x.now()
	}
	if !x.sent { // the attempt has no duration
		x.Start = x.End
	}
	if err == nil {
		return
	}
	var f *failure
	if x.conn != nil && x.conn.Wire.Idled() {
		err = os.ErrDeadlineExceeded
	}
	if !errors.As(err, &f) {
		f = networkFailure(x.ctx, x.target.Host, err, x.client.opt.Idle.String())
	}
	if x.ctx.Err() != nil {
		f = fail(measure.Cancelled, "cancelled")
	}
	// Secrets first: a cut could leave a part of one that is not recognised.
	x.Class, x.Error = f.class, plain.Line(x.client.secrets.Hide(f.message), maxMessageRunes)
	switch f.class {
	case measure.HTTP4xx, measure.HTTP5xx, measure.StreamError:
		x.Cause = measure.CauseOf(f.message)
	}
}

// staleConnection reports whether a reused connection broke before any byte of the
// reply: the server had closed it while it was idle.
func (x *exchange) staleConnection() bool {
	return x.Class == measure.ConnectionLost && x.Reused && x.Status == 0
}

// silent reports whether the server closed a new connection without a word, as some that
// speak only HTTP/2 do, and has never replied.
func (x *exchange) silent() bool {
	return x.Class == measure.ConnectionLost && !x.Reused && x.Status == 0 && x.conn.h2 == nil && !x.client.begun.Load()
}

// wantsHTTP2 reports whether HTTP/1.1 failed with a server that speaks HTTP/2 only.
func (x *exchange) wantsHTTP2() bool {
	return x.Status == 0 && x.conn != nil && x.conn.h2 == nil && x.ctx.Err() == nil && x.client.pool.dialer.SpeaksHTTP2()
}

func (x *exchange) endAt(at time.Duration) { x.End, x.ended = at, true }

func (x *exchange) now() time.Duration { return time.Since(x.client.opt.Epoch) }

func (x *exchange) since(t time.Time) time.Duration { return t.Sub(x.client.opt.Epoch) }
