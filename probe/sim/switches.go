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

// Names of the switches that are not faults.
const (
	switchChunked  = "chunked prefill"
	switchPrefixes = "prefix cache"
)

// Switches lists what can be changed while the engine runs, those of a group together.
func (s *Server) Switches() []frame.Switch {
	chunked, prefixes := s.driver.Scheduling()
	all := []frame.Switch{
		{Group: groupScheduling, Name: switchChunked, Means: "long prompts are split over iterations, beside the tokens of others; off: each in one", Value: onOff(chunked)},
		{Group: groupScheduling, Name: switchPrefixes, Means: "the KV of a prefix that an earlier prompt had is used again", Value: onOff(prefixes)},
	}
	active := map[string]string{}
	for _, a := range s.Faults().Active() {
		active[a.Name] = a.Value
	}
	for _, k := range faults.Kinds() {
		all = append(all, frame.Switch{Group: groupFaults, Name: k.Name, Means: k.Description, Value: active[k.Name]})
	}
	playing, part, _ := s.Playing()
	for _, sc := range faults.Scenarios {
		sw := frame.Switch{Group: groupIncidents, Name: sc.Name, Means: sc.Description}
		if sc.Name == playing {
			sw.Value = part
		}
		all = append(all, sw)
	}
	return all
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return ""
}

// Flip switches one on, a fault to a degree with a clear effect, or off.
func (s *Server) Flip(name string) error {
	for _, sw := range s.Switches() {
		if sw.Name != name {
			continue
		}
		switch on := !sw.On(); {
		case name == switchChunked:
			s.driver.SetChunked(on)
		case name == switchPrefixes:
			s.driver.SetPrefixCache(on)
		case sw.Group == groupFaults && on:
			return s.ChangeFaults(faults.Example(name))
		case sw.Group == groupFaults:
			return s.ChangeFaults(name + "=off")
		case on:
			return s.Play(name)
		default:
			return s.Play("")
		}
		return nil
	}
	return fmt.Errorf("simulated engine: unknown switch %q", name)
}
