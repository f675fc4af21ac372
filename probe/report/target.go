package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/level"
	"sonde/probe/opt"
	"sonde/probe/report/page"
	"sonde/probe/units"
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

	metricsOff bool // by the user, who knows why there are none
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
		t.Settings.Why, t.metricsOff = Text(cmp.Or(src.EngineWhy, id.MetricsWhy)), src.Engine == engine.Off
	}
	if len(t.Hardware) == 0 && src.GPU.State != gpu.Connecting {
		t.HardwareWhy = Text(src.GPU.Reason())
	}
	return t
}

// settingsOf joins what the server answered with what its metrics say.
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

// engine is its name and version.
func (t *Target) engine() string {
	return strings.TrimSpace(word(Text(cmp.Or(t.Name, string(t.Engine)))) + " " + string(t.EngineVersion))
}

// line is model and engine in one line.
func (t *Target) line() string {
	return fmt.Sprintf("model %s · engine %s", word(t.Model), page.Plain(t.engine()))
}

// hardware is the GPUs in words; "" if none were seen.
func (t *Target) hardware() string {
	parts := []string{}
	for _, h := range t.Hardware {
		parts = append(parts, fmt.Sprintf("%d × %s", h.Count, cmp.Or(h.Name, "GPU")))
	}
	return strings.Join(parts, ", ")
}

// section says what was measured, and how it is set up as far as it reports that.
func (t *Target) section() page.Section {
	s := &t.Settings
	why := cmp.Or(string(s.Why), "the server does not report it")
	known := func(f opt.Float) string { return because(count(f), why) }
	kv := count(s.KVCapacityTokens)
	if !s.KVCapacityTokens.OK && s.KVCapacityBlocks.OK {
		kv = count(s.KVCapacityBlocks) + " blocks"
	}
	rows := [][]string{
		{"model", word(t.Model)},
		{"hardware (GPUs seen)", because(cmp.Or(t.hardware(), units.Unknown), string(t.HardwareWhy))},
		{"engine", t.engine()},
		{"max model length, tokens", known(s.MaxModelLen)},
		{"KV cache, tokens", because(kv, why)},
		{"KV cache block, tokens", known(s.KVBlockTokens)},
		{"max requests running at once", known(s.MaxRunning)},
	}
	if s.MaxInputLen.OK {
		rows = append(rows, []string{"max prompt length, tokens", whole(s.MaxInputLen)})
	}
	if s.Ranks.V > 1 {
		rows = append(rows, []string{"ranks or replicas, summed", whole(s.Ranks)})
	}
	if len(s.About) > 0 {
		rows = append(rows, []string{"other settings seen", strings.Join(s.About, ", ")})
	}
	return page.Section{Title: "What was measured", Columns: figureColumns, Rows: rows}
}

// subject is what was measured: model, GPUs, engine; escaped.
func (t *Target) subject() string {
	text := page.Escape(word(t.Model))
	if len(t.Hardware) > 0 {
		text += " on " + page.Escape(t.hardware())
	}
	if t.Engine != "" {
		text += " with " + page.Escape(t.engine())
	}
	return text
}
