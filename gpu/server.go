package gpu

import (
	"net"
	"slices"
	"strings"
)

// Usable omits GPUs that are lost, and those whose MIG instances are listed instead.
func (s Status) Usable() []Reading {
	split := map[string]bool{}
	for _, r := range s.GPUs {
		split[r.Parent] = true
	}
	return slices.DeleteFunc(slices.Clone(s.GPUs), func(r Reading) bool {
		return r.Lost || r.ID != "" && split[r.ID]
	})
}

// Of reports whether the readings are from that page, whatever query its address has.
func (s Status) Of(page string) bool {
	u, err := pageURL(page)
	if page == "" || err != nil {
		return false
	}
	_, read, _ := strings.Cut(s.Source, " ")
	return read == shownURL(u)
}

// Serve reports whether the GPUs that were read are those of the target. The local
// ones (NVML, nvidia-smi) say nothing about a server elsewhere, or about the embedded
// engine, which uses none; an exporter was named for the target.
func (s Status) Serve(host string, embedded bool) bool {
	if !strings.HasPrefix(s.Source, "nvml") && s.Source != "nvidia-smi" {
		return true
	}
	if embedded {
		return false
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
