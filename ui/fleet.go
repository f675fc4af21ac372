package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// rounds is the way through the replicas of a fleet: all, each of them, all again.
type rounds struct {
	at    string   // the replica that was asked for; "" = all
	order []string // as it was at its beginning: it must not change under the key
	model string   // that was asked for; "" = none yet
}

// nextReplica goes on to the next replica, the fullest first, and after the last one
// back to all of them. Seen from the GPU panel the busiest goes first.
func (m *model) nextReplica() tea.Cmd {
	if m.controls == nil {
		return m.control("", nil)
	}
	e := &m.live.frame.Engine
	if len(e.Replicas) < 2 && m.rounds.at == "" {
		m.say("the engine's metrics tell no replicas apart", m.theme.dim)
		return nil
	}
	if m.rounds.at == "" {
		m.rounds.order = names(ranked(e.Replicas, m.focus == panelGPU))
	}
	m.rounds.at = next(m.rounds.order, m.rounds.at, e.Replicas)
	m.controls.ChooseReplica(m.rounds.at)
	return nil
}

// next is the first name after at that is still there; "" after the last one.
func next(order []string, at string, there []engine.Replica) string {
	for _, name := range order[slices.Index(order, at)+1:] {
		if slices.ContainsFunc(there, func(r engine.Replica) bool { return r.Name == name }) {
			return name
		}
	}
	return ""
}

// nextModel switches to the figures of the next model of the page.
func (m *model) nextModel() tea.Cmd {
	if m.controls == nil {
		return m.control("", nil)
	}
	e := &m.live.frame.Engine
	if len(e.OnPage) < 2 {
		m.say("the engine's metrics are of one model, or name none", m.theme.dim)
		return nil
	}
	now := cmp.Or(m.rounds.model, e.Reading.Model)
	at := slices.IndexFunc(e.OnPage, func(name string) bool { return strings.EqualFold(name, now) })
	m.rounds.model = e.OnPage[(at+1)%len(e.OnPage)]
	if m.rounds.at != "" { // not every replica has every model
		m.rounds.at = ""
		m.controls.ChooseReplica("")
	}
	m.controls.ChooseModel(m.rounds.model)
	return nil
}

// ranked sorts replicas by KV fill, or by the SM activity of their GPUs where that is
// known, the highest first and those that do not tell last.
func ranked(all []engine.Replica, bySM bool) []engine.Replica {
	of := func(r engine.Replica) opt.Float { return r.KVFill }
	if bySM && slices.ContainsFunc(all, func(r engine.Replica) bool { return r.SM.OK }) {
		of = func(r engine.Replica) opt.Float { return r.SM }
	}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b engine.Replica) int { return cmp.Compare(of(b).Or(-1), of(a).Or(-1)) })
	return out
}

func names(all []engine.Replica) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.Name)
	}
	return out
}

// fleetOf says of whom the engine's figures are: "all of 3", the replica's name, the
// model where it is not the one that requests name. "" where there is only one.
func fleetOf(f *frame.Frame) string {
	e := &f.Engine
	var parts []string
	if len(e.OnPage) > 1 && e.Reading.Model != "" && !strings.EqualFold(e.Reading.Model, e.Identity.Model) {
		parts = append(parts, shortModel(e.Reading.Model))
	}
	switch {
	case e.Reading.Replica != "":
		parts = append(parts, clean(e.Reading.Replica))
	case len(e.Replicas) > 1:
		parts = append(parts, "all of "+strconv.Itoa(len(e.Replicas)))
	}
	return strings.Join(parts, " · ")
}

// fleetShort is fleetOf in few cells: of a name what tells it from the others, and
// of all of them "×3".
func fleetShort(f *frame.Frame) string {
	const most = 14
	s := fleetOf(f)
	if f.Engine.Reading.Replica == "" {
		return strings.Replace(s, "all of ", "×", 1)
	}
	if cut := len(clean(f.Engine.Reading.Replica)) - len(ownPart(f.Engine.Reading.Replica, names(f.Engine.Replicas))); cut > 1 {
		s = "…" + clean(f.Engine.Reading.Replica)[cut:]
	}
	if r := []rune(s); len(r) > most {
		s = "…" + string(r[len(r)-most+1:])
	}
	return s
}

// ownPart is a name without the words at its beginning that all names share.
func ownPart(name string, all []string) string {
	name = clean(name)
	shared := name
	for _, other := range all {
		other = clean(other)
		n := 0
		for n < len(shared) && n < len(other) && shared[n] == other[n] {
			n++
		}
		if other != name {
			shared = shared[:n]
		}
	}
	if shared == name { // there is no other
		return name
	}
	return name[strings.LastIndexAny(shared, ".:-_/")+1:]
}

// ofFleet is a panel's name with whose figures it shows.
func ofFleet(name, of string) string {
	if of == "" {
		return name
	}
	return name + " " + of
}
