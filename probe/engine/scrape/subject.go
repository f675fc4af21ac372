package scrape

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nameLabels are the labels that people know replicas by, the best first.
var nameLabels = []string{"pod", "instance", "ReplicaId", "NodeAddress", "server", "worker_addr"}

// hostLabels may hold the name of a replica's machine.
var hostLabels = []string{"node", "kubernetes_node", "nodename", "host", "hostname", "Hostname", "NodeAddress"}

// namesOf names parts by the first label that distinguishes them all, else by all
// labels that differ. A single part has the first label that there is.
func namesOf(parts map[string]*part, byRank bool) map[string]string {
	labels, word := nameLabels, ""
	if byRank {
		labels, word = innerLabels, "rank "
	}
	for _, label := range labels {
		if names := namesBy(parts, word, label); names != nil {
			return names
		}
	}
	var differ []string
	for _, label := range labels {
		if !sameEverywhere(parts, label) {
			differ = append(differ, label)
		}
	}
	names := map[string]string{}
	for key, p := range parts {
		var values []string
		for _, label := range differ {
			if v := p.labels[label]; v != "" {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			names[key] = word + strings.Join(values, "/")
		}
	}
	return names
}

// namesBy names parts by one label; nil if it does not distinguish them.
func namesBy(parts map[string]*part, word, label string) map[string]string {
	names, taken := map[string]string{}, map[string]bool{}
	for key, p := range parts {
		value := p.labels[label]
		if value == "" && key != "" && key != placeMark || taken[value] {
			return nil
		}
		taken[value] = true
		if value != "" {
			names[key] = word + value
		}
	}
	return names
}

func sameEverywhere(parts map[string]*part, label string) bool {
	first, seen := "", false
	for _, p := range parts {
		if seen && p.labels[label] != first {
			return false
		}
		first, seen = p.labels[label], true
	}
	return true
}

// hostsOf lists what the machine of a series may be called.
func hostsOf(labels map[string]string) []string {
	var out []string
	add := func(host string) {
		if host != "" && !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	for _, label := range hostLabels {
		add(labels[label])
	}
	if host, _, err := net.SplitHostPort(labels["instance"]); err == nil {
		add(host)
	}
	return out
}

// compareNatural compares names so that the numbers at their ends count as such:
// vllm-9 before vllm-10.
func compareNatural(a, b string) int {
	wordA, numberA := splitNumber(a)
	wordB, numberB := splitNumber(b)
	return cmp.Or(cmp.Compare(wordA, wordB), cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

func splitNumber(s string) (word string, number int) {
	end := len(strings.TrimRight(s, "0123456789"))
	number, err := strconv.Atoi(s[end:])
	if err != nil {
		number = -1
	}
	return s[:end], number
}

// subject is what is looked at of a page.
type subject struct {
	model   string
	replica string // name or a label's value; "" = all
	// keys remember whom a name was first given to: as others come and go, another
	// label may be needed to tell them apart, and names change.
	keys    map[string]string
	scraped func(labels map[string]string) time.Time // nil: all series are as old as the page
}

// missingReplicaError is a replica that is not, or no longer, among those with
// series.
type missingReplicaError struct {
	name  string
	there []string
}

func (e *missingReplicaError) Error() string {
	if len(e.there) == 0 {
		return fmt.Sprintf("no series of replica %s, nor of any other", e.name)
	}
	return fmt.Sprintf("no series of replica %s: there are %s", e.name, firstFew(e.there, 8))
}

// narrow makes a view look at the replica of the subject only.
func (s *snapshot) narrow(v *view, of subject) error {
	if of.replica == "" {
		return nil
	}
	i := slices.IndexFunc(s.parts, of.names)
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

// names reports whether a part is the one that the name was given to.
func (of subject) names(p part) bool {
	if key := of.keys[of.replica]; key != "" {
		return p.key == key
	}
	return p.Name == of.replica || p.Pod == of.replica || p.Instance == of.replica
}
