package setup

import (
	"sonde/probe"
	"sonde/probe/sim"
)

// Rehearsal is the embedded engine's switches, nil with a URL.
func (m *Measurement) Rehearsal() probe.Rehearsal {
	if m.Engine == nil {
		return nil
	}
	return rehearsal{m.Engine}
}

// rehearsal tells the engine's switches in the words of package probe.
type rehearsal struct{ *sim.Server }

func (r rehearsal) Switches() []probe.Switch {
	own := r.Server.Switches()
	all := make([]probe.Switch, len(own))
	for i, s := range own {
		all[i] = probe.Switch(s)
	}
	return all
}
