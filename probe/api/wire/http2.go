package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// IsHTTP2 reports whether the first bytes of a reply are a frame that HTTP/2 begins
// with: SETTINGS or GOAWAY. A reply of HTTP/1 begins with "HTTP/".
func IsHTTP2(reply []byte) bool {
	return len(reply) >= 5 && reply[0] == 0 && reply[1] == 0 && (http2.FrameType(reply[3]) == http2.FrameSettings || http2.FrameType(reply[3]) == http2.FrameGoAway)
}

// Sizes of HTTP/2's flow control.
const (
	largestWindow = 1<<31 - 1
	firstWindow   = 65535    // of a connection, before any update
	renewAfter    = 64 << 20 // received bytes that are given back to the server at once
)

// HTTP2 speaks HTTP/2 on a connection that carries one request at a time. It has no
// goroutine of its own: whoever reads the reply reads the connection, whose newest stamp
// is then that of the bytes in hand, as with HTTP/1. The windows are so large that no
// answer waits for us.
type HTTP2 struct {
	out    *bufio.Writer
	framer *http2.Framer
	block  bytes.Buffer
	header *hpack.Encoder

	stream    uint32 // of the present request; odd, 0 before the first
	maxFrame  int
	window    int // bytes of requests that the connection may still take
	forStream int // the same for the present stream
	perStream int // what forStream begins with
	received  uint32

	head  *http.Response // of the present reply, once it is there
	data  []byte         // read from the connection and not yet taken
	ended bool           // nothing of the reply comes after data
	going bool           // the server takes no further request here
}

// NewHTTP2 opens HTTP/2 on a connection: in reads what out's peer sends.
func NewHTTP2(in io.Reader, out io.Writer) *HTTP2 {
	h := &HTTP2{out: bufio.NewWriter(out), maxFrame: 16 << 10, window: firstWindow, perStream: firstWindow}
	h.framer = http2.NewFramer(h.out, in)
	h.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	h.header = hpack.NewEncoder(&h.block)
	return h
}

// Send sends a request. It reads what the server says meanwhile, which may be the reply.
func (h *HTTP2) Send(req *http.Request) error {
	if h.stream == 0 {
		_, _ = h.out.WriteString(http2.ClientPreface) // an error shows at the flush
		_ = h.framer.WriteSettings(http2.Setting{ID: http2.SettingEnablePush}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: largestWindow})
		_ = h.framer.WriteWindowUpdate(0, largestWindow-firstWindow)
		h.stream = 1
	} else {
		h.stream += 2
	}
	h.forStream, h.head, h.data, h.ended = h.perStream, nil, nil, false
	if err := h.sendHead(req); err != nil {
		return err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	for {
		part := min(len(body), h.maxFrame, h.window, h.forStream)
		if part > 0 || len(body) == 0 {
			last := part == len(body)
			if err := h.framer.WriteData(h.stream, last, body[:part]); err != nil {
				return err
			}
			if body = body[part:]; last {
				return h.out.Flush()
			}
			h.window -= part
			h.forStream -= part
			continue
		}
		if err := h.out.Flush(); err != nil {
			return err
		}
		if err := h.read(); err != nil || h.ended { // a refusal may come before the end of the request
			return err
		}
	}
}

// ofConnection are the fields that HTTP/2 has no place for.
var ofConnection = []string{"host", "connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "transfer-encoding", "upgrade"}

// sendHead sends the header of a request.
func (h *HTTP2) sendHead(req *http.Request) error {
	h.block.Reset()
	field := func(name, value string) { _ = h.header.WriteField(hpack.HeaderField{Name: name, Value: value}) }
	field(":method", req.Method)
	field(":scheme", req.URL.Scheme)
	field(":authority", req.Host)
	field(":path", req.URL.RequestURI())
	for name, values := range req.Header {
		name = strings.ToLower(name)
		if slices.Contains(ofConnection, name) {
			continue
		}
		for _, v := range values {
			field(name, v)
		}
	}
	field("content-length", strconv.FormatInt(req.ContentLength, 10))
	block := h.block.Bytes()
	first := min(len(block), h.maxFrame)
	if err := h.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: h.stream, BlockFragment: block[:first], EndHeaders: first == len(block)}); err != nil {
		return err
	}
	for block = block[first:]; len(block) > 0; {
		part := min(len(block), h.maxFrame)
		if err := h.framer.WriteContinuation(h.stream, part == len(block), block[:part]); err != nil {
			return err
		}
		block = block[part:]
	}
	return nil
}

// Response is the head of the reply; its body is read from the connection on demand.
func (h *HTTP2) Response() (*http.Response, error) {
	for h.head == nil {
		if err := h.read(); err != nil {
			return nil, err
		}
	}
	h.head.Body, h.head.Close = io.NopCloser(h), h.going
	return h.head, nil
}

// Read reads the body of the reply.
func (h *HTTP2) Read(p []byte) (int, error) {
	for len(h.data) == 0 {
		if h.ended {
			return 0, io.EOF
		}
		if err := h.read(); err != nil {
			return 0, err
		}
	}
	n := copy(p, h.data)
	h.data = h.data[n:]
	return n, nil
}

// read takes one frame.
func (h *HTTP2) read() error {
	frame, err := h.framer.ReadFrame()
	if err != nil {
		return err
	}
	mine := frame.Header().StreamID == h.stream
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		return h.settings(f)
	case *http2.PingFrame:
		if f.IsAck() {
			return nil
		}
		_ = h.framer.WritePing(true, f.Data)
		return h.out.Flush()
	case *http2.WindowUpdateFrame:
		if mine {
			h.forStream += int(f.Increment)
		} else if f.StreamID == 0 {
			h.window += int(f.Increment)
		}
	case *http2.GoAwayFrame:
		h.going = true
		if f.LastStreamID < h.stream {
			return fmt.Errorf("the server ends the HTTP/2 connection (%v)", f.ErrCode)
		}
	case *http2.RSTStreamFrame:
		if mine && !h.ended {
			return fmt.Errorf("the server ended the HTTP/2 stream (%v)", f.ErrCode)
		}
	case *http2.MetaHeadersFrame:
		if mine {
			return h.reply(f)
		}
	case *http2.DataFrame:
		if mine {
			h.data, h.ended = f.Data(), f.StreamEnded()
		}
		return h.renew(f.Length)
	}
	return nil
}

// settings takes the server's settings.
func (h *HTTP2) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	err := f.ForeachSetting(func(s http2.Setting) error {
		switch s.ID {
		case http2.SettingMaxFrameSize:
			h.maxFrame = int(s.Val)
		case http2.SettingInitialWindowSize:
			h.forStream += int(s.Val) - h.perStream
			h.perStream = int(s.Val)
		case http2.SettingHeaderTableSize:
			h.header.SetMaxDynamicTableSizeLimit(s.Val)
		}
		return s.Valid()
	})
	if err != nil {
		return err
	}
	_ = h.framer.WriteSettingsAck()
	return h.out.Flush()
}

// reply takes the head of the reply, or the trailers after its body. It skips interim
// replies (1xx).
func (h *HTTP2) reply(f *http2.MetaHeadersFrame) error {
	h.ended = f.StreamEnded()
	if h.head != nil {
		return nil
	}
	status, err := strconv.Atoi(f.PseudoValue("status"))
	if err != nil {
		return fmt.Errorf("the HTTP/2 reply has no status: %w", err)
	}
	if status < 200 {
		return nil
	}
	h.head = &http.Response{StatusCode: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{}, ContentLength: -1}
	for _, field := range f.RegularFields() {
		h.head.Header.Add(field.Name, field.Value)
	}
	return nil
}

// renew gives received bytes back to the connection's window before it runs dry.
func (h *HTTP2) renew(n uint32) error {
	if h.received += n; h.received < renewAfter {
		return nil
	}
	_ = h.framer.WriteWindowUpdate(0, h.received)
	h.received = 0
	return h.out.Flush()
}
