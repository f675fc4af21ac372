package record

import (
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// replicaLine is a replica of a fleet. Its fields are those of engine.Replica.
type replicaLine struct {
	Name                 string    `json:"name"`
	At                   time.Time `json:"at"`
	Ranks                int       `json:"ranks"`
	OfServer             bool      `json:"of_server,omitempty"`
	Running              opt.Float `json:"running"`
	Waiting              opt.Float `json:"waiting"`
	KVFill               opt.Float `json:"kv_fill"`
	GenerationTokensPerS opt.Float `json:"generation_tokens_per_s"`
	Pod                  string    `json:"pod,omitempty"`
	Instance             string    `json:"instance,omitempty"`
	Hosts                []string  `json:"hosts,omitempty"`
	GPUs                 int       `json:"gpus,omitempty"`
	SM                   opt.Float `json:"sm,omitzero"`
}

func fromReplicas(all []engine.Replica) []replicaLine {
	var out []replicaLine
	for _, r := range all {
		out = append(out, replicaLine(r))
	}
	return out
}

func toReplicas(all []replicaLine) []engine.Replica {
	var out []engine.Replica
	for _, l := range all {
		out = append(out, engine.Replica(l))
	}
	return out
}
