package api

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tmaxmax/go-sse"

	"sonde/probe/measure"
)

// outcome is what an answer amounted to: the objects in it, and how it ended.
type outcome struct {
	objects []string
	class   measure.Class // "" if it was complete
	whole   bool
}

func (o *outcome) add(c *chunk) {
	o.objects = append(o.objects, fmt.Sprintf("%+v", readingOf(c)))
}

func (o *outcome) end(err error) {
	var f *failure
	if errors.As(err, &f) {
		o.class = f.class
	}
	if o.class == measure.BadReply || o.class == measure.Empty { // the library drops text of no known form, and comments
		o.class = measure.Truncated
	}
}

// FuzzAgainstLibrary: go-sse finds the same data events in the same bytes, except where
// the two differ on purpose. Each difference is made up for here, in asLibrary and
// fromLibrary, with its reason.
func FuzzAgainstLibrary(f *testing.F) {
	for _, body := range smallFixtures() {
		f.Add(body)
	}
	for _, body := range []string{
		"\xef\xbb\xbfdata: {\"a\":1}\r\rdata:[DONE]", "data: {\"choices\":\ndata: []}\n\nevent: error\ndata: x\n\n",
		": wait\r\n\r\nid: 1\nretry: 5\ndata\ndata:\n\ndatax: {}\n{\"error\":\"x\"}", "error: {\"message\":\"x\"}\n\n",
		"data: {}\nevent: error\n\n", "data: {}\ndata: {}\n\nevent:x\nevent\ndata: y\n\n", "data: {\"a\":\n\ndata: {}\n\n",
		"data: data: {\"choices\":[]}\n\ndata:data: [DONE]\n\n",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if manyLines.Match(body) {
			t.Skip("an object without framing over several lines is none to the library")
		}
		if aPage.Match(body) {
			t.Skip("the library skips the mark-up of a page")
		}
		ours, theirs := fromScanner(body), fromLibrary(t, body)
		if ours.whole {
			t.Skip("an answer in one object without framing is no event")
		}
		if ours.class != theirs.class {
			t.Fatalf("ends as %q, by the library as %q", ours.class, theirs.class)
		}
		common := len(ours.objects)
		if theirs.class == measure.StreamError {
			// An object counts as soon as its line is there, even if the event turns out to be
			// an error in a later line: we may have one event's objects more.
			common = min(common, len(theirs.objects))
		}
		if got, want := strings.Join(ours.objects[:common], "\n"), strings.Join(theirs.objects, "\n"); got != want {
			t.Fatalf("objects\n%s\nby the library\n%s", got, want)
		}
	})
}

func fromScanner(body []byte) (o outcome) {
	s := stream{lines: newLines(bytes.NewReader(body), nil), sink: o.add}
	o.end(s.read())
	o.whole = s.whole
	return o
}

// fromLibrary lets go-sse do the framing, and the rest of stream judge the events.
func fromLibrary(t *testing.T, body []byte) (o outcome) {
	s := stream{sink: o.add}
	// The library refuses events of over 64 KiB by default; our limit is 32 MiB a line.
	input := asLibrary(body)
	for event, err := range sse.Read(bytes.NewReader(input), &sse.ReadConfig{MaxEventSize: 2*len(input) + 1024}) {
		if err != nil {
			t.Fatalf("the library fails: %v", err)
		}
		err = s.wholeEvent(event)
		if err != nil || s.done {
			o.end(err)
			return o
		}
	}
	o.end(s.end(nil))
	return o
}

// wholeEvent takes an event of the library, line by line: in our reader an object may end
// its event without a blank line, and [DONE] ends the stream on its own line.
func (s *stream) wholeEvent(event sse.Event) error {
	s.event = strings.TrimSpace(event.Type) // the library keeps blanks around the name
	for line := range strings.SplitSeq(event.Data, "\n") {
		if err := s.data([]byte(line)); err != nil || s.done {
			return err
		}
	}
	return s.blank()
}

var (
	bareObject = regexp.MustCompile(`(^\x{FEFF}?|[\r\n])\{`)
	manyLines  = regexp.MustCompile(`(^\x{FEFF}?|[\r\n])\{[^\r\n]*[\r\n]+[ \t"}\[\],]`)
	aPage      = regexp.MustCompile(`(^\x{FEFF}?|[\r\n])<`)
	twice      = regexp.MustCompile(`(^\x{FEFF}?|[\r\n])data: ?data: `)
	errorField = regexp.MustCompile(`(^\x{FEFF}?|[\r\n])error(:|[\r\n]|$)`)
)

// asLibrary rewrites a body so that the library sees what we take from it beyond the
// standard. (Comments and unknown fields need nothing: they hold no data. We only count
// comments, and take the text of an unnamed error from them.)
func asLibrary(body []byte) []byte {
	// A line that starts like an object is data: proxies send errors without framing.
	body = bareObject.ReplaceAll(body, []byte("${1}data:{"))
	// A proxy that frames events once more leaves the inner mark in the data.
	body = twice.ReplaceAll(body, []byte("${1}data: "))
	// A field "error", which the standard does not know, is an error at once (llama.cpp).
	if at := errorField.FindSubmatchIndex(body); at != nil {
		body = append(bytes.Clone(body[:at[3]]), "event:error"...)
	}
	// The last event counts without its blank line: servers close right after it.
	return append(bytes.Clone(body), "\n\n"...)
}
