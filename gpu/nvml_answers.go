package gpu

import "sonde/probe/opt"

// answers collects the return codes of one reading of one unit, to tell a lost
// device from single refusals.
type answers struct {
	unit           *unit
	lost           bool
	asked, unknown int
}

func (a *answers) note(c code) {
	a.lost = a.lost || c.lost()
	a.asked++
	if c == codeUnknown {
		a.unknown++
	}
}

// deviceLost: the driver says so, or it answers nothing but "unknown error", as
// it does when a GPU fell off the bus or a container lost its devices.
func (a *answers) deviceLost() bool {
	return a.lost || a.asked > 1 && a.unknown == a.asked
}

// ask gives the value in the unit that holds "per" of the driver's.
func (a *answers) ask(q quantity, per float64) opt.Float {
	v, c, asked := a.unit.query(q)
	if asked {
		a.note(c)
	}
	if c != codeSuccess {
		return opt.Float{}
	}
	return opt.Of(float64(v) / per)
}

func (a *answers) memory() (memory, code) {
	if c, refused := a.unit.refused[memoryBytes]; refused {
		return memory{}, c
	}
	m, c := a.unit.device.memory()
	a.note(c)
	a.unit.remember(memoryBytes, c)
	return m, c
}
