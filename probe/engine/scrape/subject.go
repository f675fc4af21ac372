package scrape

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// subject is what is looked at of a page.
type subject struct {
	model   string
	replica string // name or a label's value; "" = all
	// keys remember whom a name was first given to: as others come and go, another
	// label may be needed to tell them apart, and names change.
	keys    map[string]string
	scraped func(labels map[string]string) time.Time // nil: all series are as old as the page
}

// missingReplicaError is a replica that is not, or no longer, among those that tell
// of themselves.
type missingReplicaError struct {
	name  string
	there []string
}

func (e *missingReplicaError) Error() string {
	const most = 8
	if len(e.there) == 0 {
		return fmt.Sprintf("no series of the replica %s, nor of any other", e.name)
	}
	names := strings.Join(e.there[:min(len(e.there), most)], ", ")
	if more := len(e.there) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("no series of the replica %s: there are those of %s", e.name, names)
}

// narrow makes a view look at the replica of the subject only.
func (s *snapshot) narrow(v *view, of subject) error {
	if of.replica == "" {
		return nil
	}
	i := slices.IndexFunc(s.parts, func(p part) bool { return of.means(p) })
	if i < 0 {
		e := &missingReplicaError{name: of.replica}
		for _, p := range s.parts {
			e.there = append(e.there, p.Name)
		}
		return e
	}
	p := s.parts[i]
	if of.keys != nil {
		of.keys[of.replica] = p.key
	}
	v.part, s.Replica, s.At = p.key, p.Name, p.At
	return nil
}

// means tells whether a part is the one that a name was given to.
func (of subject) means(p part) bool {
	if key := of.keys[of.replica]; key != "" {
		return p.key == key
	}
	return p.Name == of.replica || p.Pod == of.replica || p.Instance == of.replica
}
