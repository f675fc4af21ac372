package setup

import (
	"sonde/probe/frame"
	"sonde/probe/sim"
)

// Rehearsal is the embedded engine's switches, nil with a URL.
func (m *Measurement) Rehearsal() frame.Rehearsal {
	if m.Engine == nil {
		return nil
	}
	return rehearsal{m.Engine}
}

// rehearsal tells the engine's switches in the words of package probe.
type rehearsal struct{ *sim.Server }

func (r rehearsal) Switches() []frame.Switch {
	own := r.Server.Switches()
	all := make([]frame.Switch, len(own))
	for i, s := range own {
		all[i] = frame.Switch(s)
	}
	return all
}
