package report

import (
	"cmp"
	"slices"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/level"
	"sonde/probe/opt"
)

// Target is what was measured. The GPUs are those that could be seen; a server that
// shares a host with others need not use all of them.
type Target struct {
	URL           Text       `json:"url"`
	Model         Text       `json:"model"`
	Engine        Text       `json:"engine"`
	EngineVersion Text       `json:"engine_version"`
	Settings      Settings   `json:"settings"`
	Hardware      []Hardware `json:"hardware"`
	HardwareWhy   Text       `json:"hardware_why"` // why no GPUs were seen

	Name string `json:"-"` // of the engine, for people; "" as Engine
}

// Settings are what the engine says of how it was started. KV capacities are sums over
// its ranks; lengths are tokens.
type Settings struct {
	MaxModelLen      Number   `json:"max_model_len"`
	MaxInputLen      Number   `json:"max_input_len"`
	MaxRunning       Number   `json:"max_running"` // requests that run at once
	KVCapacityTokens Number   `json:"kv_capacity_tokens"`
	KVCapacityBlocks Number   `json:"kv_capacity_blocks"`
	KVBlockTokens    Number   `json:"kv_block_tokens"` // tokens of one block
	Ranks            Number   `json:"ranks"`           // whose figures are merged
	About            []string `json:"about"`           // what else it says of itself
	Why              Text     `json:"why"`             // why the engine's own figures are missing
}

// Hardware is GPUs of one kind.
type Hardware struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

func targetOf(l *level.Level) Target {
	id, src := &l.Sources.Identity, &l.Sources
	t := Target{
		URL: Text(src.Target.URL), Model: Text(id.Model), Engine: Text(id.Kind), EngineVersion: Text(id.Version), Name: id.Name,
		Settings: settingsOf(id, &src.Settings), Hardware: hardware(l.GPUs),
	}
	if !src.Read {
		t.Settings.Why = Text(cmp.Or(src.EngineWhy, id.MetricsWhy))
	}
	if len(t.Hardware) == 0 && src.GPU.State != gpu.Connecting {
		t.HardwareWhy = Text(src.GPU.Reason())
	}
	return t
}

// settingsOf joins what the server said when it was asked with what its metrics say.
func settingsOf(id *engine.Identity, r *engine.Reading) Settings {
	return Settings{
		MaxModelLen: either(id.MaxModelLen, r.MaxModelLen), MaxInputLen: either(id.MaxInputLen, opt.Float{}),
		MaxRunning: either(id.MaxRunning, r.MaxRunning), Ranks: either(r.Ranks, opt.Float{}),
		KVCapacityTokens: r.KVCapacityTokens, KVCapacityBlocks: r.KVCapacityBlocks, KVBlockTokens: r.KVBlockTokens,
		About: list(slices.Concat(id.About, r.Settings)),
	}
}

// either is a count that is unknown as 0, or else what another source says.
func either(n int, other opt.Float) opt.Float {
	if n > 0 {
		return opt.Of(float64(n))
	}
	return other
}

// hardware counts the GPUs by their names, in the order of their first appearance. Parts
// of a GPU (MIG) are that GPU.
func hardware(gpus []level.GPU) []Hardware {
	out := []Hardware{}
	seen := map[string]bool{}
	for i := range gpus {
		g := &gpus[i]
		whole := cmp.Or(g.Parent, g.ID)
		if seen[whole] {
			continue
		}
		seen[whole] = true
		at := slices.IndexFunc(out, func(h Hardware) bool { return h.Name == g.Name })
		if at < 0 {
			at = len(out)
			out = append(out, Hardware{Name: g.Name})
		}
		out[at].Count++
	}
	return out
}
