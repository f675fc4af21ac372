package api

import (
	"bufio"
	"bytes"
	"cmp"
	"strings"

	"sonde/probe/measure"
	"sonde/probe/plain"
)

// stream reads the reply to one request. What it is shows in its bytes and not in its
// content type: an event stream, one JSON object per line, or a whole JSON object. It
// reports every object as soon as its line is complete, so that the arrival stamp below
// belongs to it: servers that omit the blank line between events are read like all others.
//
// The framing is our own and not a library's: comments, unknown fields, objects
// without a field name and a last event without its blank line all carry
// meaning here, and an event-stream library hides them by design. A library is the
// oracle in FuzzAgainstLibrary.
type stream struct {
	lines   *bufio.Scanner
	sink    func(*chunk)  // called for each object except errors; it must not keep it
	class   measure.Class // of an error in it; "" is StreamError
	decoder decoder
	pending []byte // lines that are not JSON on their own
	bare    bool   // the newest data came without a field name
	event   string // the event field of the event being read
	comment string // the newest comment
	stray   string // the first line that belongs to no form of a reply

	comments int
	broken   int    // events with incomplete JSON
	unread   string // a field whose value is not of a form that is understood
	finish   string
	// afterFinish: text came after a finish reason. A server that puts one on every chunk
	// proves no end with it.
	afterFinish bool
	done        bool // an end mark was seen
	answers     bool // an object had the form of an answer
	whole       bool // the answer came in one object, without arrival times
	usage       usage
	text        []byte // of the answer, if the decoder keeps it
}

// read goes through the whole answer: nil when it is complete, else a *failure
// or the error of the connection.
func (s *stream) read() error {
	for s.lines.Scan() {
		if err := s.line(s.lines.Bytes()); err != nil || s.done {
			return err
		}
	}
	return s.end(s.lines.Err())
}

// end judges how the body ended.
func (s *stream) end(err error) error {
	if err != nil {
		if s.finish != "" && !s.afterFinish && err != bufio.ErrTooLong {
			return nil // complete by its finish reason; only what follows was cut
		}
		return err
	}
	stray := s.stray // an event that the end cuts off is none
	if err := s.blank(); err != nil {
		return err
	}
	switch {
	case s.afterFinish:
		return fail(measure.Truncated, "the stream ended without [DONE]: its finish reason came on every chunk and proves no end")
	case s.finish != "" || s.whole:
		return nil
	case !s.answers && s.stray == "" && s.comments == 0:
		return fail(measure.Empty, "response is empty")
	case s.answers || stray == "":
		return fail(measure.Truncated, "the stream ended without a finish reason or [DONE]")
	}
	return fail(measure.BadReply, "response is not a chat completion: "+stray)
}

func (s *stream) line(line []byte) error {
	if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		s.bare = false
		value = bytes.TrimPrefix(value, []byte(" "))
		return s.data(bytes.TrimPrefix(value, []byte("data: "))) // a proxy framed events once more
	}
	if len(line) == 0 {
		return s.blank()
	}
	// Newline-delimited JSON, a proxy's error, a whole reply, or the further lines of one.
	if line[0] == '{' || s.bare && len(s.pending) > 0 && bytes.IndexByte([]byte(" \t\"}[],"), line[0]) >= 0 {
		s.bare = true
		return s.data(line)
	}
	if line[0] == '<' && !s.answers {
		return s.page(line)
	}
	if line[0] == ':' {
		s.comments++
		s.comment = string(bytes.TrimSpace(line[1:]))
		return nil
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "event":
		s.event = string(bytes.TrimSpace(value))
	case "error": // llama.cpp before b6523
		return s.failWith(value)
	case "id", "retry", "data":
	default:
		s.stray = cmp.Or(s.stray, string(bytes.TrimSpace(line)))
	}
	return nil
}

// page reads an HTML or XML page that came in place of an answer.
func (s *stream) page(line []byte) error {
	page := bytes.Clone(line)
	for len(page) < maxErrorBody && s.lines.Scan() {
		page = append(append(page, '\n'), s.lines.Bytes()...)
	}
	words := plain.ErrorMessage(page)
	return fail(cmp.Or(classOfWords(words), measure.BadReply), "response is "+words+": is this the API's address?")
}

// data takes one data line. A line that is a whole JSON object counts at once.
func (s *stream) data(value []byte) error {
	trimmed := bytes.TrimSpace(value)
	switch {
	case len(trimmed) == 0:
		return nil
	case bytes.EqualFold(trimmed, []byte("[DONE]")):
		s.done = true
		return nil
	case len(s.pending) == 0 && s.event != "error":
		if c, ok := s.decoder.decode(trimmed); ok {
			return s.object(c)
		}
	}
	if len(s.pending) > 0 {
		s.pending = append(s.pending, '\n')
	}
	if len(s.pending)+len(value) > maxLineBytes {
		return bufio.ErrTooLong
	}
	s.pending = append(s.pending, value...)
	return nil
}

// blank ends an event.
func (s *stream) blank() error {
	event, pending := s.event, bytes.TrimSpace(s.pending)
	s.event, s.pending = "", s.pending[:0]
	switch {
	case event == "error" && len(pending) == 0:
		return fail(measure.StreamError, s.comment)
	case event == "error":
		return s.failWith(pending)
	case len(pending) == 0:
		return nil
	}
	if c, ok := s.decoder.decode(pending); ok {
		return s.object(c)
	}
	if pending[0] == '{' { // JSON that was cut off: end decides
		s.broken++
		s.stray = cmp.Or(s.stray, string(pending))
		return nil
	}
	return s.failWith(pending)
}

// failWith makes an error of a text that may be JSON in any form.
func (s *stream) failWith(text []byte) error {
	text = bytes.TrimSpace(text)
	message := value(text).string()
	if c, ok := s.decoder.decode(text); ok {
		message = cmp.Or(c.refusal.message, c.get("message").string())
	}
	return fail(measure.StreamError, cmp.Or(message, string(text)))
}

func (s *stream) object(c *chunk) error {
	if c.refusal.is {
		if s.answers { // a code cannot undo that the request was accepted
			return fail(measure.StreamError, c.refusal.message)
		}
		return fail(cmp.Or(c.refusal.class, s.class, measure.StreamError), c.refusal.message)
	}
	if c.bearing.any() {
		s.afterFinish = s.finish != ""
	} else if c.usage.known() {
		s.afterFinish = false // usage alone comes at the end
	}
	if c.finish != "" {
		s.finish = c.finish
		if reason := strings.ToLower(c.finish); strings.HasPrefix(reason, "error") || strings.HasPrefix(reason, "abort") {
			return fail(measure.StreamError, "finish reason "+c.finish)
		}
	}
	s.answers = s.answers || c.answers
	s.unread = cmp.Or(s.unread, c.unread)
	if !s.answers {
		s.stray = cmp.Or(s.stray, string(s.decoder.cursor.data))
	}
	s.usage.merge(c.usage)
	s.keepText(c)
	if s.whole = s.bare && c.whole; !s.whole {
		s.sink(c)
	}
	s.done = s.done || c.ended
	return nil
}

// longestText bounds the text of an answer that is kept.
const longestText = 1 << 20 // bytes

// keepText adds what a chunk holds of the answer's text.
func (s *stream) keepText(c *chunk) {
	if c.bearing.said == nil {
		return
	}
	for _, v := range *c.bearing.said {
		piece := v.string()
		if len(s.text)+len(piece) > longestText {
			s.decoder.keep = false // a text with a hole is worse than one that ends
			return
		}
		s.text = append(s.text, piece...)
	}
}

// note describes what was unusual about an answer that is not a failure.
func (s *stream) note() string {
	switch {
	case s.whole:
		return "response was not streamed: it has no TTFT, gap or TPOT"
	case s.broken > 0:
		return "events with incomplete JSON were skipped: a gap there spans two tokens"
	case s.finish == "" && s.done:
		return "no finish reason, only [DONE]"
	case s.unread != "":
		return "field " + s.unread + " has a value of an unexpected kind: it is treated as unknown"
	}
	return ""
}
