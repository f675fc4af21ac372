package probe

import (
	"testing"

	"sonde/probe/measure"
)

func TestThreeIdenticalRefusals(t *testing.T) {
	refused := func(message string) Request { return Request{Class: measure.ContextLength, Error: message} }
	for name, c := range map[string]struct {
		ended []Request
		want  bool
	}{
		"three":                 {[]Request{refused("a"), refused("a"), refused("a")}, true},
		"two":                   {[]Request{refused("a"), refused("a")}, false},
		"another message":       {[]Request{refused("a"), refused("a"), refused("b")}, false},
		"a success between":     {[]Request{refused("a"), refused("a"), {}, refused("a")}, false},
		"a cancelled between":   {[]Request{refused("a"), refused("a"), {Class: measure.Cancelled}, refused("a")}, true},
		"a long one in between": {[]Request{refused("a"), {Class: measure.ContextLength, Error: "a", Long: true}, refused("a")}, false},
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
