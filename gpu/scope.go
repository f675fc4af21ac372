package gpu

import "strings"

// Scope says which of the GPUs that were read a Status keeps while one replica of the
// engine is shown. The zero Scope is all GPUs of all replicas.
type Scope struct {
	Kind    ScopeKind
	Replica string // the one that is shown; "" for AllReplicas
}

// ScopeKind is how the GPUs of a replica were found.
type ScopeKind int

// Kinds of Scope.
const (
	AllReplicas      ScopeKind = iota
	OfReplica                  // exactly those of the replica
	OfMachine                  // those of its machine, which may serve others, too
	AllWithoutLabels           // all, because no label shows which are the replica's
	AllReplicaGone             // all, because the replica is gone
)

// All reports whether no GPU was omitted although one replica is shown.
func (s Scope) All() bool { return s.Kind == AllWithoutLabels || s.Kind == AllReplicaGone }

// scopeWords are the texts of each kind around the replica's name.
var scopeWords = []struct {
	kind          ScopeKind
	before, after string
}{
	{OfMachine, "of the machine of ", ""},
	{OfReplica, "of ", ""},
	{AllReplicaGone, "all: ", " is gone"},
	{AllWithoutLabels, "all: no label shows which belong to ", ""},
	{AllWithoutLabels, "all: no label tells which are those of ", ""}, // in earlier recordings
}

// String is for people, and for recordings; "" for all GPUs of all replicas.
func (s Scope) String() string {
	for _, w := range scopeWords {
		if w.kind == s.Kind {
			return w.before + s.Replica + w.after
		}
	}
	return ""
}

// MarshalText writes a Scope as recordings hold it.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText, or an earlier version, wrote. Unknown text is
// AllReplicas.
func (s *Scope) UnmarshalText(text []byte) error {
	*s = Scope{}
	for _, w := range scopeWords {
		rest, begins := strings.CutPrefix(string(text), w.before)
		name, ends := strings.CutSuffix(rest, w.after)
		if begins && ends {
			*s = Scope{w.kind, name}
			break
		}
	}
	return nil
}
