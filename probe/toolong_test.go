package probe

import (
	"testing"

	"sonde/probe/measure"
)

func TestThreeIdenticalRefusals(t *testing.T) {
	refused := func(message string) measure.Request {
		return measure.Request{Class: measure.ContextLength, Error: message}
	}
	for name, c := range map[string]struct {
		ended []measure.Request
		want  bool
	}{
		"three":                 {[]measure.Request{refused("a"), refused("a"), refused("a")}, true},
		"two":                   {[]measure.Request{refused("a"), refused("a")}, false},
		"another message":       {[]measure.Request{refused("a"), refused("a"), refused("b")}, false},
		"a success between":     {[]measure.Request{refused("a"), refused("a"), {}, refused("a")}, false},
		"a cancelled between":   {[]measure.Request{refused("a"), refused("a"), {Class: measure.Cancelled}, refused("a")}, true},
		"a long one in between": {[]measure.Request{refused("a"), {Class: measure.ContextLength, Error: "a", Long: true}, refused("a")}, false},
	} {
		var w tooLongWatch
		got := false
		for i := range c.ended {
			got = w.add(&c.ended[i]) || got
		}
		if got != c.want {
			t.Errorf("%s: ended %v, want %v", name, got, c.want)
		}
	}
}
