package sim

import (
	"fmt"

	"sonde/probe/frame"
	"sonde/probe/sim/faults"
)

// Groups of switches, as they are headed.
const (
	groupScheduling = "scheduling"
	groupFaults     = "faults"
	groupIncidents  = "incidents: 20 s of calm, 60 s of trouble, 40 s of recovery, repeated"
)

// toggle is a switch with what flips it.
type toggle struct {
	frame.Switch
	flip func(on bool) error
}

// Switches lists what can be changed while the engine runs, those of a group together.
func (s *Server) Switches() []frame.Switch {
	var all []frame.Switch
	for _, t := range s.toggles() {
		all = append(all, t.Switch)
	}
	return all
}

// Flip switches one on, a fault to a degree with a clear effect, or off.
func (s *Server) Flip(name string) error {
	for _, t := range s.toggles() {
		if t.Name == name {
			return t.flip(!t.On())
		}
	}
	return fmt.Errorf("simulated engine: unknown switch %q", name)
}

func (s *Server) toggles() (all []toggle) {
	add := func(group, name, description, value string, flip func(on bool) error) {
		all = append(all, toggle{frame.Switch{Group: group, Name: name, Description: description, Value: value}, flip})
	}
	chunked, prefixes := s.driver.Scheduling()
	add(groupScheduling, "chunked prefill", "long prompts are split over iterations, beside the tokens of others; off: each in one", onOff(chunked),
		func(on bool) error { s.driver.SetScheduling(on, prefixes); return nil })
	add(groupScheduling, "prefix cache", "the KV of a prefix that an earlier prompt had is used again", onOff(prefixes),
		func(on bool) error { s.driver.SetScheduling(chunked, on); return nil })
	active := map[string]string{}
	for _, a := range s.Faults().Active() {
		active[a.Name] = a.Value
	}
	for _, k := range faults.Kinds {
		add(groupFaults, k.Name, k.Description, active[k.Name], func(on bool) error {
			if on {
				return s.ChangeFaults(k.Example)
			}
			return s.ChangeFaults(k.Name + "=off")
		})
	}
	playing, part, _ := s.Playing()
	for _, sc := range faults.Scenarios {
		value := ""
		if sc.Name == playing {
			value = part
		}
		add(groupIncidents, sc.Name, sc.Description, value, func(on bool) error {
			if on {
				return s.Play(sc.Name)
			}
			return s.Play("")
		})
	}
	return all
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return ""
}
