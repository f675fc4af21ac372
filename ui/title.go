package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/frame"
)

// title is the top line: what is measured at the left, the state at the right.
// The right part stays whole; the left part loses its last names first.
func (t *theme) title(p *picture, paused bool, w int) string {
	right := t.state(p, paused, w < fullWidth)
	room := w - 2 - ansi.StringWidth(right)
	left := t.target(p.frame, room)
	fill := max(0, w-1-ansi.StringWidth(left)-ansi.StringWidth(right))
	return pad(left+strings.Repeat(" ", fill)+right, w)
}

// target names the endpoint, the engine, the model and the GPU; on a narrow
// screen fewer of them, the model last.
func (t *theme) target(f *frame.Frame, room int) string {
	host, engine, model := cleanOr(f.Target.Host, unknown), engineOf(f), modelOf(f)
	if f.Target.Embedded {
		host, engine = "embedded engine", ""
	}
	if f.Engine.Reading.Replica != "" {
		host += " › " + fleetShort(f)
	}
	const name = " sonde  "
	for _, parts := range [][]string{
		{host, engine, model, gpusOf(f)}, {host, engine, model}, {host, model}, {host, engine},
	} {
		s := strings.Join(slices.DeleteFunc(parts, isEmpty), " · ")
		if len(name)+ansi.StringWidth(s) <= room {
			return t.bold.Render(name) + s
		}
	}
	return t.bold.Render(name) + clip(host, room-len(name))
}

func isEmpty(s string) bool { return s == "" }

// modelOf is the model's own name, without the owner or the folder before it.
func modelOf(f *frame.Frame) string { return shortModel(f.Engine.Identity.Model) }

func shortModel(name string) string {
	s := clean(name)
	return s[strings.LastIndexByte(s, '/')+1:]
}

func gpusOf(f *frame.Frame) string {
	gpus := f.GPU.GPUs
	if len(gpus) == 0 {
		return ""
	}
	name := shortGPUName(gpus[0].Name)
	if len(gpus) > 1 {
		return fmt.Sprintf("%d× %s", len(gpus), name)
	}
	return name
}

// state is what is going on, the level, and the age of the session.
func (t *theme) state(p *picture, paused, narrow bool) string {
	parts := []string{}
	if paused {
		parts = append(parts, t.warn.Render("PAUSED"))
	}
	if p.silent > staleAfter {
		parts = append(parts, t.warn.Render(signWarn+" no data for "+span(p.silent)))
	}
	if p.play != nil {
		parts = append(parts, t.playing(p.play, narrow))
	} else if sweeping := t.sweepState(&p.sweep, narrow); sweeping != "" {
		parts = append(parts, sweeping)
	} else {
		parts = append(parts, t.activity(p))
	}
	if l := p.frame.Load.Level; l > 0 {
		idle := p.wish.Concurrency == 0
		parts = append(parts, t.levelState(l, p.frame.Load.Settled, idle, narrow))
	}
	at := clock(p.frame.At)
	if p.play != nil {
		at += "/" + clock(p.play.Last)
	}
	return strings.Join(append(parts, at), "  ") + " "
}

// levelState says whether the level's numbers can be trusted; without load there
// is nothing that could settle.
func (t *theme) levelState(level int, settled, idle, narrow bool) string {
	text := fmt.Sprintf("level %d · ", level)
	if narrow {
		text = fmt.Sprintf("L%d ", level)
	}
	switch {
	case settled:
		return text + "settled "
	case idle:
		return text + "no load "
	}
	return text + t.dim.Render("settling")
}

func (t *theme) activity(p *picture) string {
	switch c := &p.frame.Client; {
	case !p.have:
		return t.dim.Render("○ starting")
	case p.wish.Concurrency > 0:
		return t.good.Render(signGood + " probing")
	case p.beforeLoad():
		return t.note.Render("◌ " + stageWord(p.frame.Load.Stage))
	case c.InFlight > 0:
		return t.warn.Render("◐ draining")
	}
	return t.dim.Render("○ idle")
}
