package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// told is a picture of an engine that says this and nothing else.
func told(change func(*engine.Status)) *picture {
	f := slice(1, time.Second)
	f.Engine = engine.Status{Have: true}
	change(&f.Engine)
	return &picture{frame: f, have: true, history: newHistory(time.Second)}
}

func TestKVPanelSaysWhyItIsEmpty(t *testing.T) {
	k := &kvPanel{newTheme(colorprofile.TrueColor, false)}
	for _, c := range []struct {
		name       string
		p          *picture
		has, hasNo string
	}{
		{"no reading", told(func(e *engine.Status) { e.Have, e.Why = false, "start it with --metrics" }), "start it with --metrics", "wait"},
		{"neither queue nor cache", told(func(e *engine.Status) {
			e.Reading.Notes = []string{"no metrics page", "tiny is\x1b[31m loaded"}
		}), "no metrics page; tiny is[31m loaded", "100%"},
		{"a queue and no cache", told(func(e *engine.Status) {
			e.Reading.Running, e.Reading.Notes = opt.Of(2), []string{"tells nothing of the KV cache"}
		}), "tells nothing of the KV cache", "100%"},
		{"both", told(func(e *engine.Status) {
			e.Reading.Running, e.Reading.KVFill, e.Reading.Notes = opt.Of(2), opt.Of(0.5), []string{"a remark"}
		}), "100%", "a remark"},
	} {
		body := strings.Join(k.body(c.p, 60, 10), "\n")
		text := ansi.Strip(body)
		if !strings.Contains(text, c.has) || strings.Contains(text, c.hasNo) {
			t.Errorf("%s: want %q and not %q in\n%s", c.name, c.has, c.hasNo, text)
		}
		if strings.Contains(body, "\x1b[31m") {
			t.Errorf("%s: a server's text steers the terminal", c.name)
		}
		if lines := strings.Split(body, "\n"); len(lines) != 10 {
			t.Errorf("%s: %d lines, want 10", c.name, len(lines))
		}
	}
	stale := told(func(e *engine.Status) { e.Reading.Notes = []string{"no metrics page"} })
	if h := k.heading(stale); len(h.figures) != 1 || h.figures[0].text != unknown || len(h.foot) > 0 {
		t.Errorf("heading of an engine that says nothing: %+v", h)
	}
}
