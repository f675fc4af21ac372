package api

import (
	"bufio"
	"bytes"
	"cmp"
	"strings"

	"sonde/probe/measure"
)

// stream reads the events of one answer. It reports every JSON object as soon as
// its line is complete, so that the arrival stamp below belongs to it: servers
// that omit the blank line between events are read like all others.
//
// The framing is our own and not a library's: comments, unknown fields, objects
// without a field name and a last event without its blank line all carry
// meaning here, and an event-stream library hides them by design. A library is the
// oracle in FuzzAgainstLibrary.
type stream struct {
	lines   *bufio.Scanner
	sink    func(*chunk) // called for each object except errors; it must not keep it
	decoder decoder
	pending []byte // data lines that are not JSON on their own
	event   string // the event field of the event being read
	comment string // the newest comment

	comments int
	broken   int // events with incomplete JSON
	finish   string
	done     bool // an end mark was seen
	usage    usage
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
		if s.finish != "" && err != bufio.ErrTooLong {
			return nil // complete by its finish reason; only what follows was cut
		}
		return err
	}
	if err := s.blank(); err != nil {
		return err
	}
	if s.finish == "" {
		return fail(measure.Truncated, "the stream ended without a finish reason or [DONE]")
	}
	return nil
}

func (s *stream) line(line []byte) error {
	if len(line) == 0 {
		return s.blank()
	}
	if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		return s.data(bytes.TrimPrefix(value, []byte(" ")))
	}
	if line[0] == ':' {
		s.comments++
		s.comment = string(bytes.TrimSpace(line[1:]))
		return nil
	}
	if line[0] == '{' { // a proxy's bare object, or newline-delimited JSON
		return s.data(line)
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "event":
		s.event = string(bytes.TrimSpace(value))
	case "error": // llama.cpp before b6523
		return s.failWith(value)
	}
	return nil
}

// data takes one data line. A line that is a whole JSON object counts at once.
func (s *stream) data(value []byte) error {
	trimmed := bytes.TrimSpace(value)
	switch {
	case len(trimmed) == 0:
		return nil
	case string(trimmed) == "[DONE]":
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
	event, pending := s.event, s.pending
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
	if looksCut(pending) {
		s.broken++ // at the end of the body it was cut off: end decides
		return nil
	}
	return s.failWith(pending)
}

// looksCut reports whether the text is JSON that was cut off, not plain text.
func looksCut(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 0 && data[0] == '{'
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
		return fail(measure.StreamError, c.refusal.message)
	}
	if c.finish != "" {
		s.finish = c.finish
		if strings.HasPrefix(c.finish, "error") {
			return fail(measure.StreamError, "finish reason "+c.finish)
		}
	}
	// What comes later is the more complete.
	if c.usage.known() && (!c.usage.own || s.usage.own || !s.usage.known()) {
		s.usage = c.usage
	}
	s.sink(c)
	s.done = s.done || c.ended
	return nil
}

// note describes what was unusual about an answer that is not a failure.
func (s *stream) note() string {
	switch {
	case s.broken > 0:
		return "events with incomplete JSON were skipped: a gap there spans two tokens"
	case s.finish == "" && s.done:
		return "no finish reason, only [DONE]"
	}
	return ""
}
