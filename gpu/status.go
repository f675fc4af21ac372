package gpu

import (
	"net"
	"slices"
	"strings"
	"time"

	"sonde/probe/plain"
)

// Status is the newest set of readings, as a source publishes it.
type Status struct {
	At     time.Time `json:"at,omitzero"` // when the newest values were taken
	GPUs   []Reading `json:"gpus"`
	Source string    `json:"source"` // what was read: SourceNVML, SourceSMI, "dcgm http://…"; "" if there is none
	State  State     `json:"-"`
	Why    string    `json:"why,omitempty"` // why there are no readings, or no newer ones; see Reason
	Scope  Scope     `json:"scope,omitzero"`

	// Period is how often values change: an age above three periods is a stall.
	// 0 until it is known.
	Period time.Duration `json:"period_ms"`
}

// Sources of this machine, as they stand in Status.Source.
const (
	SourceNVML = "nvml"
	SourceSMI  = "nvidia-smi"
)

// State is how far a source has come.
type State int

// States of a source. All except Tried mean that nothing is wrong.
const (
	Tried      State = iota // it was read, or failed: see Status.Why
	Connecting              // the session has no sources yet
	Looking                 // looking for GPUs
	Off                     // switched off by the user
)

var stateWords = map[State]string{Connecting: "connecting", Looking: "looking for GPUs", Off: "switched off with --gpu off"}

// Reason says why there are no readings, or no newer ones; "" if there are.
func (s *Status) Reason() string {
	if words, ok := stateWords[s.State]; ok {
		return words
	}
	return s.Why
}

// SetReason is the opposite of Reason: recordings hold the reason only.
func (s *Status) SetReason(text string) {
	s.State, s.Why = Tried, text
	for state, words := range stateWords {
		if words == text {
			s.State, s.Why = state, ""
		}
	}
}

// Newest is when the newest values of some readings were taken; zero if none of them says.
func Newest(readings []Reading) (newest time.Time) {
	for i := range readings {
		if at := readings[i].At; at.After(newest) {
			newest = at
		}
	}
	return newest
}

// Usable omits GPUs that are lost, and those whose MIG instances are listed instead.
func (s *Status) Usable() []Reading {
	split := map[string]bool{}
	for _, r := range s.GPUs {
		split[r.Parent] = true
	}
	return slices.DeleteFunc(slices.Clone(s.GPUs), func(r Reading) bool {
		return r.Lost || r.ID != "" && split[r.ID]
	})
}

// From reports whether the readings are from that page, whatever query its address has.
func (s *Status) From(page string) bool {
	u, ok := plain.PageURL(page)
	return ok && s.Source[strings.LastIndexByte(s.Source, ' ')+1:] == plain.Address(u)
}

// Serve reports whether the GPUs that were read are those of the target. The local
// ones (NVML, nvidia-smi) say nothing about a server elsewhere, or about the embedded
// engine, which uses none; an exporter was named for the target.
func (s *Status) Serve(host string, embedded bool) bool {
	if s.Source != SourceNVML && s.Source != SourceSMI {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return !embedded && IsLoopback(strings.Trim(host, "[]"))
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
