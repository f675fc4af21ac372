package probe

import (
	"net"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
)

// placeGPUs finds the GPUs of every replica. While one replica is looked at, the
// Frame keeps only its GPUs, or says that no label tells which they are.
func placeGPUs(f *frame.Frame) {
	if len(f.Engine.Replicas) < 2 && f.Engine.Reading.Replica == "" {
		return
	}
	all := f.GPU.GPUs
	replicas := slices.Clone(f.Engine.Replicas) // what the source published stays as it is
	for i := range replicas {
		r := &replicas[i]
		own, exact := gpusOf(r, all)
		others := slices.ContainsFunc(replicas, func(o engine.Replica) bool { return o.Name != r.Name && sharesMachine(r, &o) })
		if exact || !others {
			r.GPUs = len(own)
			for _, g := range own {
				r.SM = greater(r.SM, g.SM)
			}
		}
		if r.Name == f.Engine.Reading.Replica && len(own) > 0 {
			f.GPU.GPUs, f.GPU.Scope = own, gpu.Scope{Kind: gpu.OfReplica, Replica: r.Name}
			if at := gpu.Newest(own); !at.IsZero() {
				f.GPU.At = at // others may be newer
			}
			if !exact {
				f.GPU.Scope.Kind = gpu.OfMachine
			}
		}
	}
	f.Engine.Replicas = replicas
	switch name := f.Engine.Reading.Replica; {
	case name == "" || f.GPU.Scope != (gpu.Scope{}) || len(all) == 0:
	case !slices.ContainsFunc(replicas, func(r engine.Replica) bool { return r.Name == name }):
		f.GPU.Scope = gpu.Scope{Kind: gpu.AllReplicaGone, Replica: name}
	default:
		f.GPU.Scope = gpu.Scope{Kind: gpu.AllWithoutLabels, Replica: name}
	}
}

// gpusOf picks the GPUs of a replica: those given to its pod, or scraped at its own
// address, are exactly its own; else those of its machine. A rank has none of its own.
func gpusOf(r *engine.Replica, all []gpu.Reading) (own []gpu.Reading, exact bool) {
	pick := func(is func(*gpu.Reading) bool) []gpu.Reading {
		var out []gpu.Reading
		for i := range all {
			if is(&all[i]) {
				out = append(out, all[i])
			}
		}
		return out
	}
	whole := !r.OfServer
	if own = pick(func(g *gpu.Reading) bool { return r.Pod != "" && g.Pod == r.Pod }); len(own) > 0 {
		return own, whole
	}
	if own = pick(func(g *gpu.Reading) bool { return r.Instance != "" && g.Exporter == r.Instance }); len(own) > 0 {
		return own, whole
	}
	return pick(func(g *gpu.Reading) bool {
		return slices.ContainsFunc(r.Hosts, func(h string) bool { return sameHost(h, g.Host) || sameHost(h, g.Exporter) })
	}), false
}

// sharesMachine tells whether two replicas run on one machine.
func sharesMachine(a, b *engine.Replica) bool {
	return slices.ContainsFunc(a.Hosts, func(h string) bool { return slices.Contains(b.Hosts, h) })
}

// sameHost compares names of machines, with or without port and domain.
func sameHost(a, b string) bool {
	a, b = hostName(a), hostName(b)
	return a != "" && strings.EqualFold(a, b)
}

func hostName(s string) string {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	if net.ParseIP(s) != nil {
		return s
	}
	short, _, _ := strings.Cut(s, ".")
	return short
}

func greater(a, b opt.Float) opt.Float {
	if !a.OK || b.OK && b.V > a.V {
		return b
	}
	return a
}
