package ui

import (
	"cmp"
	"slices"
	"strings"

	"sonde/probe/engine"
	"sonde/ui/panel"
)

// rounds is a cycle through the replicas of a fleet: all, then each of them, then all again.
type rounds struct {
	at    string   // the replica that was chosen; "" = all
	order []string // fixed when the cycle begins: it must not change between presses
	model string   // chosen; "" = none yet
}

// nextReplica goes to the next replica, the fullest first, and after the last one back to
// all of them. On the GPU panel the busiest comes first.
func (m *model) nextReplica() {
	e := &m.live.Frame.Engine
	if len(e.Replicas) < 2 && m.rounds.at == "" {
		m.say("the engine's metrics do not distinguish replicas", m.theme.Dim)
		return
	}
	if m.rounds.at == "" {
		m.rounds.order = names(panel.Ranked(e.Replicas, m.focus == panel.GPU))
	}
	m.rounds.at = next(m.rounds.order, m.rounds.at, e.Replicas)
	m.Controls.ChooseReplica(m.rounds.at)
}

// next is the first name after at that still exists; "" after the last one.
func next(order []string, at string, there []engine.Replica) string {
	for _, name := range order[slices.Index(order, at)+1:] {
		if slices.ContainsFunc(there, func(r engine.Replica) bool { return r.Name == name }) {
			return name
		}
	}
	return ""
}

// nextModel switches to the figures of the next model of the page.
func (m *model) nextModel() {
	e := &m.live.Frame.Engine
	if len(e.OnPage) < 2 {
		m.say("the engine's metrics cover one model, or name none", m.theme.Dim)
		return
	}
	now := cmp.Or(m.rounds.model, e.Reading.Model)
	at := slices.IndexFunc(e.OnPage, func(name string) bool { return strings.EqualFold(name, now) })
	m.rounds.model = e.OnPage[(at+1)%len(e.OnPage)]
	if m.rounds.at != "" { // not every replica has every model
		m.rounds.at = ""
		m.Controls.ChooseReplica("")
	}
	m.Controls.ChooseModel(m.rounds.model)
}

func names(all []engine.Replica) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.Name)
	}
	return out
}
