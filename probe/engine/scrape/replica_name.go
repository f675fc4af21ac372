package scrape

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
)

// nameLabels are the labels that people know replicas by, the best first.
var nameLabels = []string{"pod", "instance", "ReplicaId", "NodeAddress", "server", "worker_addr"}

// hostLabels may hold the name of a replica's machine.
var hostLabels = []string{"node", "kubernetes_node", "nodename", "host", "hostname", "Hostname", "NodeAddress"}

// namesOf names parts by the first label that tells them all apart, else by all
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

// namesBy names parts by one label; nil if it does not tell them apart.
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
