// Package core is the physics of the embedded engine: a discrete-event model of a GPU
// inference engine with continuous batching. It knows no HTTP.
//
// The physics is a roofline: an iteration lasts as long as its arithmetic or its memory
// traffic, whichever takes longer, plus an overhead (step.go). The scheduler decides
// what goes into an iteration (scheduler.go), drafts make several tokens in one step,
// prompts may be read elsewhere (disaggregation.go), and faults change the rules while
// it runs (conditions.go). None of this knows the clock: the driver runs it in real time
// (driver.go), tests in virtual time.
package core

import (
	"cmp"
	"fmt"

	"sonde/probe/sim/faults"
)

// Options choose the simulated machine and engine. The zero value of every
// field stands for its default.
type Options struct {
	Model   string // of the table in model.go, any letter case
	GPU     string // of the table in machine.go, any letter case
	TP      int    // GPUs that share the model (tensor parallel); default: the fewest that hold it
	Dtype   string // of the weights: "bf16", "fp8" or "int4"
	KVDtype string // of the KV cache: "auto" or "fp8"

	MaxSeqs     int     // sequences in one iteration
	TokenBudget int     // tokens in one iteration, decode and prefill together
	MaxModelLen int     // prompt and answer together, tokens; default: at most 16384, less if the model or the KV cache is smaller
	BlockTokens int     // in a KV block
	KVGB        float64 // KV cache over all GPUs, 1e9 bytes; default: room for 32768 tokens

	Unchunked     bool // a prompt goes into one iteration whole, however long it is
	NoPrefixCache bool

	SpecTokens     int     // draft tokens of speculative decoding; 0: none
	SpecAcceptance float64 // probability that the model accepts a draft, 0 to 1; default 0.7

	Disaggregated bool    // prompts are read by as many GPUs again, which do nothing else
	TransferGBs   float64 // of the link that their KV crosses, 1e9 bytes/s; default 25

	Speed float64 // 2: twice as fast
	Seed  uint64  // words and natural lengths of answers, accepted drafts

	Reasoning float64       // of the answers to a chat: a share below 1, a number of tokens from 1 on
	Faults    faults.Faults // from the start
	Scenario  string        // of faults.Scenarios, which plays from the start; "" for none

	VirtualTime bool // the clock is a test's (testing/synctest): its timers are exact, and the system's would not know of it
}

// The demo runs an 8B model on an A100. Its bandwidth gives 10 ms a token, and
// its arithmetic is slow enough to see: a prompt of 256 tokens takes 23 ms,
// one of 8,192 draws a stripe through all other streams, 0.8 s of gaps of about
// 200 ms. On an H100 the stripe is a third of that, and the machine underneath
// has more tokens to move. The KV cache is far smaller than the 55 GB that would
// fit, so that a few dozen streams fill a visible part of it.
const (
	defaultMaxModelLen = 16384
	defaultKVTokens    = 32768
)

// withDefaults fills in what does not depend on the model and the GPU.
func (o Options) withDefaults() Options {
	o.Model = cmp.Or(o.Model, "Llama-3.1-8B")
	o.GPU = cmp.Or(o.GPU, "A100-80GB")
	o.Dtype = cmp.Or(o.Dtype, "bf16")
	o.KVDtype = cmp.Or(o.KVDtype, "auto")
	o.MaxSeqs = cmp.Or(o.MaxSeqs, 128)
	o.TokenBudget = cmp.Or(o.TokenBudget, 2048) // vLLM's default for chunked prefill
	o.BlockTokens = cmp.Or(o.BlockTokens, 16)   // vLLM's
	o.SpecAcceptance = cmp.Or(o.SpecAcceptance, 0.7)
	o.TransferGBs = cmp.Or(o.TransferGBs, 25) // 200 Gbit/s
	o.Speed = cmp.Or(o.Speed, 1)
	return o
}

// Setup is a complete, checked configuration.
type Setup struct {
	Options
	Served   Model
	Machine  Machine
	KVBlocks int
	Instance int // distinguishes engines on one machine: the port
}

// KVTokens is the capacity of the KV cache.
func (s *Setup) KVTokens() int { return s.KVBlocks * s.BlockTokens }

// Describe says in one line what is being simulated.
func (s *Setup) Describe() string {
	devices := fmt.Sprintf("%d × %s", s.Machine.GPUs, s.Machine.DriverName)
	if s.Disaggregated {
		devices += fmt.Sprintf(" for decode and %d for prefill", s.Machine.GPUs)
	}
	return fmt.Sprintf("%s on %s, KV cache %d tokens, context %d tokens", s.Served.FullName, devices, s.KVTokens(), s.MaxModelLen)
}

// DeviceName says that the device is simulated, and how far it is from the real
// one: at another speed the real one's peaks do not apply.
func (s *Setup) DeviceName() string {
	name := "simulated " + s.Machine.DriverName
	if s.Speed != 1 {
		name += fmt.Sprintf(" at %gx speed", s.Speed)
	}
	return name
}

// Resolve fills in defaults and refuses what cannot work.
func (o Options) Resolve() (Setup, error) {
	s := Setup{Options: o.withDefaults()}
	served, noModel := modelNamed(s.Model, s.Dtype, s.KVDtype)
	one, noGPU := machineNamed(s.GPU)
	if err := cmp.Or(noModel, noGPU, s.check()); err != nil {
		return Setup{}, err
	}
	s.Served = served
	kvBytes := cmp.Or(s.KVGB*1e9, defaultKVTokens*served.KVBytesPerToken())
	var err error
	if s.Machine, err = fit(one, &s.Served, kvBytes, s.TP); err != nil {
		return Setup{}, err
	}
	s.KVBlocks = int(kvBytes / (float64(s.BlockTokens) * s.Served.KVBytesPerToken()))
	return s, s.chooseMaxModelLen()
}

// check refuses what does not fit together. Each value by itself is in its range.
func (s *Setup) check() error {
	if s.TokenBudget < s.MaxSeqs*(1+s.SpecTokens) {
		return fmt.Errorf("simulated engine: a token budget of %d is too small for %d sequences of %d tokens per iteration; raise it or lower the number of sequences",
			s.TokenBudget, s.MaxSeqs, 1+s.SpecTokens)
	}
	if err := Reasoning(s.Reasoning).check(); err != nil {
		return err
	}
	if s.Scenario != "" {
		if _, err := faults.FindScenario(s.Scenario); err != nil {
			return err
		}
	}
	return s.Faults.Check()
}

func (s *Setup) chooseMaxModelLen() error {
	room := s.KVTokens()
	if room < 2*s.BlockTokens {
		return fmt.Errorf("simulated engine: the KV cache holds only %d tokens of %s; give it more memory", room, s.Served.FullName)
	}
	if s.MaxModelLen > room {
		return fmt.Errorf("simulated engine: a model length of %d tokens does not fit into a KV cache of %d tokens; lower it or give the cache more memory", s.MaxModelLen, room)
	}
	s.MaxModelLen = cmp.Or(s.MaxModelLen, min(defaultMaxModelLen, s.Served.context, room))
	return nil
}

const (
	// usableMemory is the share of GPU memory for weights and KV cache; the rest
	// holds activations and the driver's own. vLLM's default is the same 0.9.
	UsableMemory = 0.9
	// mostGPUs is the largest tensor parallel group: with more GPUs, nothing but
	// communication is left.
	mostGPUs = 64
)

// fit spreads the model over the requested number of GPUs, or over as few (a power
// of two) as hold it.
func fit(m Machine, served *Model, kvBytes float64, requested int) (Machine, error) {
	if requested > mostGPUs || requested > 0 && served.Heads%requested != 0 {
		return Machine{}, fmt.Errorf("simulated engine: %s cannot be spread over %d GPUs; choose a number up to %d that divides its %d attention heads",
			served.FullName, requested, mostGPUs, served.Heads)
	}
	var tried int
	var need float64 // bytes
	for n := max(requested, 1); n <= mostGPUs && served.Heads%n == 0 && (requested == 0 || n == requested); n *= 2 {
		together := m.times(n)
		tried, need = n, served.WeightBytes+kvBytes*together.kvReplicas(served)
		if need <= UsableMemory*m.Peaks.Memory*float64(n) {
			return together, nil
		}
	}
	return Machine{}, fmt.Errorf("simulated engine: %s with %.1f GB of KV cache needs %.0f GB, more than %d × %s can give; choose more or larger GPUs, a smaller model or less cache",
		served.FullName, kvBytes/1e9, need/1e9, tried, m.name)
}
