package sim

import (
	"fmt"
	"strings"
)

// Switch is something that can be changed while the engine runs.
type Switch struct {
	Group string // "scheduling", "faults", "incidents"
	Name  string
	Means string
	Value string // how it stands; "" is off
}

// Groups of switches.
const (
	groupScheduling = "scheduling"
	groupFaults     = "faults"
	groupIncidents  = "incidents: 20 s of calm, a minute of trouble, 40 s of recovery, again and again"
)

// Names of the switches that are no faults.
const (
	switchChunked  = "chunked prefill"
	switchPrefixes = "prefix cache"
)

// Switches are all that there are, those of a group together.
func (s *Server) Switches() []Switch {
	chunked, prefixes := s.driver.scheduling()
	all := []Switch{
		{groupScheduling, switchChunked, "prompts go into iterations by pieces, beside the tokens of others; off: whole", onOff(chunked)},
		{groupScheduling, switchPrefixes, "what prompts have in common with earlier ones is not computed again", onOff(prefixes)},
	}
	now := s.Faults()
	for _, k := range faultKinds {
		value := k.text(&now)
		if _, v, ok := strings.Cut(value, "="); ok {
			value = v
		}
		all = append(all, Switch{groupFaults, k.Name, k.Means, value})
	}
	playing, part, _ := s.Playing()
	for _, sc := range scenes {
		value := ""
		if sc.Name == playing {
			value = part
		}
		all = append(all, Switch{groupIncidents, sc.Name, sc.Says, value})
	}
	return all
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return ""
}

// Flip switches one on, a fault to a degree that is clearly felt, or off.
func (s *Server) Flip(name string) error {
	for _, sw := range s.Switches() {
		if sw.Name != name {
			continue
		}
		on := sw.Value == ""
		switch {
		case name == switchChunked:
			s.driver.setChunked(on)
		case name == switchPrefixes:
			s.driver.setPrefixCache(on)
		case sw.Group == groupFaults:
			return s.ChangeFaults(faultText(name, on))
		case on:
			return s.Play(name)
		default:
			return s.Play("")
		}
		return nil
	}
	return fmt.Errorf("simulated engine: no switch is called %q", name)
}

// faultText is a fault as it is written, switched on or off.
func faultText(name string, on bool) string {
	for _, k := range faultKinds {
		if on && k.Name == name {
			return k.Example
		}
	}
	return name + "=off"
}

// scheduling tells whether prompts are chunked and prefixes cached.
func (d *driver) scheduling() (chunked, prefixes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.core.chunked, d.core.kv.prefixes
}

// setChunked takes effect from the next iteration on.
func (d *driver) setChunked(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.chunked = on
	if d.core.pool != nil {
		d.core.pool.core.chunked = on
	}
}

// setPrefixCache is about blocks that fill up and prompts that are admitted from now
// on; what is shared stays so.
func (d *driver) setPrefixCache(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.kv.cachePrefixes(on)
	if d.core.pool != nil {
		d.core.pool.core.kv.cachePrefixes(on)
	}
}
