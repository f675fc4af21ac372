package headless

import (
	"cmp"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/opt"
)

func (a *Accumulator) target() Target {
	id := &a.engine.identity
	t := Target{
		Model: Text(id.Model), Engine: Text(id.Kind), EngineVersion: Text(id.Version), Name: id.Name,
		Settings: settingsOf(id, &a.engine.last), Hardware: a.gpus.hardware(),
	}
	if a.last == nil {
		return t
	}
	t.URL = Text(a.last.Target.URL)
	if !a.engine.have {
		t.Settings.Why = Text(cmp.Or(a.last.Engine.Why, id.MetricsWhy))
	}
	if len(t.Hardware) == 0 && a.last.GPU.State != gpu.Connecting {
		t.HardwareWhy = Text(a.last.GPU.Reason())
	}
	return t
}

// settingsOf joins what the server said when it was asked with what its metrics say.
func settingsOf(id *engine.Identity, r *engine.Reading) Settings {
	s := Settings{
		MaxModelLen: either(id.MaxModelLen, r.MaxModelLen), MaxInputLen: either(id.MaxInputLen, opt.Float{}),
		MaxRunning: either(id.MaxRunning, r.MaxRunning), Ranks: either(r.Ranks, opt.Float{}),
		KVCapacityTokens: r.KVCapacityTokens, KVCapacityBlocks: r.KVCapacityBlocks, KVBlockTokens: r.KVBlockTokens, About: []string{},
	}
	s.About = append(append(s.About, id.About...), r.Settings...)
	return s
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
func (g *gpuWindow) hardware() []Hardware {
	out := []Hardware{}
	at, seen := map[string]int{}, map[string]bool{}
	for _, d := range g.devices {
		whole := cmp.Or(d.parent, d.id)
		if seen[whole] {
			continue
		}
		seen[whole] = true
		i, known := at[d.name]
		if !known {
			i = len(out)
			at[d.name] = i
			out = append(out, Hardware{Name: d.name})
		}
		out[i].Count++
	}
	return out
}
