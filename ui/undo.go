package ui

import "sonde/probe/frame"

// mostChanges is how many changes of the load can be undone.
const mostChanges = 100

// remember keeps the load that was requested before a change of it.
func (m *model) remember(before frame.Load) {
	if before == m.Controls.Load() {
		return
	}
	m.earlier = append(m.earlier, before)
	m.earlier = m.earlier[max(0, len(m.earlier)-mostChanges):]
}

// undo takes back the last change of the load that was made here. Requests that were
// cancelled stay so.
func (m *model) undo() {
	now := m.Controls.Load()
	for n := len(m.earlier); n > 0; n-- {
		was := m.earlier[n-1]
		m.earlier = m.earlier[:n-1]
		if was == now { // someone else has brought it back
			continue
		}
		m.Controls.SetLoad(was)
		m.say("undone: "+was.ChangeFrom(now)+". Load now: "+loadText(m.Controls.Load()), m.theme.Note)
		return
	}
	m.say("nothing to undo", m.theme.Dim)
}
