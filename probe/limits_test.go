package probe

import (
	"fmt"
	"strings"
	"testing"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/process"
)

func TestThreeIdenticalRefusals(t *testing.T) {
	refused := func(message string) measure.Request {
		return measure.Request{Class: measure.ContextLength, Error: message}
	}
	later := refused("a")
	later.Turn = 6
	for name, c := range map[string]struct {
		ended []measure.Request
		want  bool
	}{
		"three":                          {[]measure.Request{refused("a"), refused("a"), refused("a")}, true},
		"two":                            {[]measure.Request{refused("a"), refused("a")}, false},
		"another message":                {[]measure.Request{refused("a"), refused("a"), refused("b")}, false},
		"a success between":              {[]measure.Request{refused("a"), refused("a"), {}, refused("a")}, false},
		"a cancelled between":            {[]measure.Request{refused("a"), refused("a"), {Class: measure.Cancelled}, refused("a")}, true},
		"a long one in between":          {[]measure.Request{refused("a"), {Class: measure.ContextLength, Error: "a", Long: true}, refused("a")}, false},
		"turns that outgrew the context": {[]measure.Request{later, later, later}, false},
		"a later turn in between":        {[]measure.Request{refused("a"), later, refused("a")}, false},
		"three, and a later turn":        {[]measure.Request{refused("a"), refused("a"), later, refused("a")}, true},
	} {
		var w tooLong
		got := false
		for i := range c.ended {
			got = w.isLast(&c.ended[i]) || got
		}
		if got != c.want {
			t.Errorf("%s: ended %v, want %v", name, got, c.want)
		}
	}
}

func TestConversationsThatOutgrowTheContextAreNotedOnce(t *testing.T) {
	f := &frame.Frame{Requests: []measure.Request{
		{Class: measure.ContextLength, Turn: 1}, {Turn: 7}, {Class: measure.ContextLength, Turn: 6}, {Class: measure.ContextLength, Turn: 7},
	}}
	w := tooLong{commands: &commands{}}
	w.add(f, nil)
	w.add(f, nil)
	if len(f.Events) != 1 || !strings.Contains(f.Events[0].Text, "at turn 6") {
		t.Errorf("events %+v, want one, of turn 6", f.Events)
	}
}

func TestTooFewFiles(t *testing.T) {
	limit, known := process.FileLimit()
	if !known || limit > 1<<30 {
		t.Skip("no limit here")
	}
	fits := int(limit) - ownFiles
	if err := checkFiles(fits, false); err != nil {
		t.Errorf("%d streams fit: %v", fits, err)
	}
	err := checkFiles(fits+1, false)
	if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("use at most %d", fits)) {
		t.Errorf("%d streams: %v", fits+1, err)
	}
	if checkFiles(fits/2+1, true) == nil {
		t.Error("the embedded engine's ends of the sockets were forgotten")
	}
}
