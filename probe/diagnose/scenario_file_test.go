package diagnose_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"sonde/probe"
	"sonde/probe/arrivals"
	"sonde/probe/diagnose"
	"sonde/probe/frame"
	"sonde/probe/prompt"
	"sonde/probe/sim"
)

// scenario is one of testdata/scenarios: what happens to a server, and what has to be
// said of it. Everything is played on the embedded engine in virtual time.
type scenario struct {
	Name    string
	Engine  engineSpec
	Front   frontSpec // what stands before the engine
	Load    loadSpec
	Metrics string // of the engine: "" or "off"
	GPU     string // "" or "off"
	Prompts string // see options; "": each is new
	Client  string // "busy": it has no processor time to spare
	Idle    duration
	SLO     string
	Lasts   duration
	Then    []change

	Strongest diagnose.Rule   // of the first verdict at the end
	Says      []string        // parts of its sentence or evidence
	Also      []diagnose.Rule // further rules that hold then, each of them truly
	May       []diagnose.Rule // remarks that come and go
	RuledOut  []diagnose.Rule `toml:"ruled_out"` // rules that must be judged then, and found not to hold
	Calm      bool            // no warning may appear at any moment

	Trouble *timing // when it is, and what must be said of it; nil: only the end counts
}

// timing is a trouble with its times. Nothing is wrong before and after it.
type timing struct {
	From, Until duration
	Right       []diagnose.Rule // the strongest verdict is one of them, from ten seconds after the beginning on
	Beside      []diagnose.Rule // further ones that are no lie, before the end and for ten seconds after it
	Changes     int             // of the strongest verdict, at most, from the beginning on
}

// engineSpec is an engine, by the flags of "sonde sim".
type engineSpec struct {
	Model, GPU  string
	TP          int
	Speed       float64
	KVGB        float64 `toml:"kv-gb"`
	KVTokens    float64 `toml:"kv-tokens"` // room for so many tokens of the 8B model, in the place of kv-gb
	MaxSeqs     int     `toml:"max-seqs"`
	MaxModelLen int     `toml:"max-model-len"`
	TokenBudget int     `toml:"token-budget"`
	Unchunked   bool
	SpecTokens  int     `toml:"spec-tokens"`
	Acceptance  float64 `toml:"spec-acceptance"`
	Faults      string
	Scenario    string
}

// loadSpec is the load at the start: a closed loop, or an open one with a rate in
// requests per second.
type loadSpec struct {
	Streams, In, Out int
	Rate             float64
	Turns            int
	Think            duration
}

// change is what happens during a scenario.
type change struct {
	At         duration
	Streams    *int
	In         int
	Faults     string
	Do         string // "abort", "reset" or "long prompt"
	Neighbours neighbours
}

// neighbours are other clients of the same engine: each sends one request after the
// other with a rest in between, until the scenario ends.
type neighbours struct {
	Clients, In, Out int
	Rest             duration
}

// duration is one in the notation of Go, such as "2s".
type duration struct{ time.Duration }

func (d *duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

// scenarios reads all of them. An unknown field is an error.
func scenarios(t *testing.T) (all []scenario) {
	t.Helper()
	files, err := filepath.Glob("testdata/scenarios/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Scenario []scenario }
		if err := toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields().Decode(&file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, file.Scenario...)
	}
	return all
}

// options makes the engine. A token of the 8B model takes 32 layers of 8 heads of 128,
// keys and values, two bytes each.
func (e *engineSpec) options(t *testing.T) sim.Options {
	o := sim.Options{
		Model: e.Model, GPU: e.GPU, TP: e.TP, Speed: e.Speed, KVGB: e.KVGB, MaxSeqs: e.MaxSeqs, MaxModelLen: e.MaxModelLen, TokenBudget: e.TokenBudget,
		Unchunked: e.Unchunked, SpecTokens: e.SpecTokens, SpecAcceptance: e.Acceptance, Scenario: e.Scenario,
	}
	if e.KVTokens > 0 {
		o.KVGB = e.KVTokens * 32 * 8 * 128 * 2 * 2 / 1e9
	}
	var err error
	if o.Faults, err = sim.ParseFaults(e.Faults); err != nil {
		t.Fatal(err)
	}
	return o
}

// options makes what the Session is to do.
func (s *scenario) options() probe.Options {
	o := probe.Options{
		Load:   frame.Load{Concurrency: s.Load.Streams, InputTokens: s.Load.In, OutputTokens: s.Load.Out, Rate: s.Load.Rate, Turns: s.Load.Turns, Think: s.Load.Think.Duration, Arrivals: arrivals.Poisson},
		Prefix: "unique", Seed: 1, Metrics: s.Metrics, GPU: s.GPU, Idle: s.Idle.Duration,
	}
	if s.Client == "busy" {
		o.Process = &exhausted{}
	}
	unique, same := prompt.NewSynthetic(prompt.Unique, 1), prompt.NewSynthetic(prompt.Same, 1)
	switch s.Prompts {
	case "same":
		o.Prompts, o.Prefix = same, "same"
	case "same, although unique is claimed":
		o.Prompts = struct{ prompt.Source }{same}
	case "every fortieth long":
		o.Prompts = &someLong{Source: unique}
	case "half as long":
		o.Prompts = halves{unique}
	}
	return o
}

// exhausted is a process that has no core left.
type exhausted struct{ used time.Duration }

func (p *exhausted) CPU() (time.Duration, bool) {
	p.used += 100 * probe.DefaultTick // since the last slice: a hundred cores, which nobody has
	return p.used, true
}

func (p *exhausted) LongestPause() time.Duration { return 0 }

// someLong makes every fortieth prompt long.
type someLong struct {
	prompt.Source
	n atomic.Int64
}

func (m *someLong) Next(tokens int) prompt.Prompt {
	if m.n.Add(1)%40 == 0 {
		tokens = 4000
	}
	return m.Source.Next(tokens)
}

// halves makes prompts of half the requested length.
type halves struct{ prompt.Source }

func (h halves) Next(tokens int) prompt.Prompt {
	p := h.Source.Next(tokens / 2)
	p.Tokens = tokens
	return p
}

func (halves) Learn(prompt.Prompt, int) {}
