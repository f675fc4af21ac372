// Package sim is the embedded engine: a discrete-event model of a GPU inference
// engine with continuous batching, in real time, behind a real HTTP server. It
// speaks the OpenAI API, vLLM's metric names and a DCGM exporter page, and it
// names itself "sonde-sim" wherever a server says who it is.
//
// The physics is a roofline: an iteration lasts as long as its arithmetic or
// its memory traffic, whichever takes longer, plus an overhead (step.go). The
// scheduler decides what goes into an iteration (scheduler.go), the driver
// makes it happen at the right moment (driver.go), the rest is protocol.
package sim

import (
	"fmt"
	"math"
	"strings"
)

// Options choose the simulated machine and engine. The zero value of every
// field stands for its default.
type Options struct {
	Model string // one of Models(), any letter case
	GPU   string // one of GPUs(), any letter case
	TP    int    // GPUs that share the model (tensor parallel); default: the fewest that hold it

	MaxSeqs     int     // sequences in one iteration
	TokenBudget int     // tokens in one iteration, decode and prefill together
	MaxModelLen int     // prompt and answer together, tokens; default: at most 16384, less if the model or the KV cache is smaller
	KVGB        float64 // KV cache over all GPUs, 1e9 bytes; default: room for 32768 tokens

	Speed         float64 // 2 is a machine twice as fast
	Seed          uint64  // words and natural lengths of answers
	Unchunked     bool    // a prompt goes into one iteration whole, however long it is
	NoPrefixCache bool
	Faults        Faults // what goes wrong on request
	VirtualTime   bool   // the clock is a test's (testing/synctest): its timers are exact, and the system's would not know of it
}

// The demo runs an 8B model on an A100. Its bandwidth gives 10 ms a token, and
// its arithmetic is slow enough to be seen: a prompt of 256 tokens takes 23 ms,
// one of 8,192 draws a stripe through all other streams, 0.8 s of gaps of about
// 200 ms. On an H100 the stripe is a third of that, and the machine underneath
// has more tokens to move. The KV cache is far smaller than the 55 GB that would
// fit, so that a few dozen streams fill a visible part of it.
const (
	defaultModel       = "Llama-3.1-8B"
	defaultGPU         = "A100-80GB"
	defaultMaxSeqs     = 128
	defaultTokenBudget = 2048 // vLLM's default for chunked prefill
	defaultMaxModelLen = 16384
	defaultKVTokens    = 32768
	defaultSpeed       = 1.0
)

// usableMemory is the share of GPU memory for weights and KV cache; the rest
// holds activations and the driver's own. vLLM's default is the same 0.9.
const usableMemory = 0.9

// DefaultOptions is the machine of the demo. KVGB, TP and MaxModelLen stay 0,
// because they follow from the model and the GPU.
func DefaultOptions() Options {
	return Options{
		Model: defaultModel, GPU: defaultGPU, Speed: defaultSpeed,
		MaxSeqs: defaultMaxSeqs, TokenBudget: defaultTokenBudget,
	}
}

// setup is a complete, checked configuration.
type setup struct {
	shape       shape
	machine     machine
	maxSeqs     int
	tokenBudget int
	maxModelLen int
	kvBlocks    int
	speed       float64
	seed        uint64
	chunked     bool
	prefixCache bool
	faults      Faults
	virtual     bool // no timers of the system
	instance    int  // tells engines on one machine apart: the port
}

// resolve fills in defaults and refuses what cannot work.
func (o Options) resolve() (setup, error) {
	d := DefaultOptions()
	sh, err := shapeNamed(or(o.Model, d.Model))
	if err != nil {
		return setup{}, err
	}
	m, err := machineNamed(or(o.GPU, d.GPU))
	if err != nil {
		return setup{}, err
	}
	s := setup{
		shape: sh, maxSeqs: or(o.MaxSeqs, d.MaxSeqs), tokenBudget: or(o.TokenBudget, d.TokenBudget),
		speed: or(o.Speed, d.Speed), seed: o.Seed, chunked: !o.Unchunked, prefixCache: !o.NoPrefixCache, faults: o.Faults, virtual: o.VirtualTime,
	}
	if err := s.faults.check(); err != nil {
		return setup{}, err
	}
	kvBytes := or(o.KVGB*1e9, float64(defaultKVTokens)*sh.kvBytesPerToken())
	if err := s.checkNumbers(o, kvBytes); err != nil {
		return setup{}, err
	}
	if s.machine, err = fit(m, sh, kvBytes, o.TP); err != nil {
		return setup{}, err
	}
	s.kvBlocks = int(kvBytes / (blockTokens * sh.kvBytesPerToken()))
	return s, s.chooseMaxModelLen(o.MaxModelLen)
}

func (s *setup) checkNumbers(o Options, kvBytes float64) error {
	finite := !math.IsNaN(kvBytes+s.speed) && !math.IsInf(kvBytes+s.speed, 0)
	switch {
	case !finite || s.speed <= 0:
		return fmt.Errorf("simulated engine: speed %g and KV cache %g GB have to be positive numbers", s.speed, o.KVGB)
	case s.maxSeqs < 1 || s.tokenBudget < 1 || o.TP < 0 || o.MaxModelLen < 0 || kvBytes < 0:
		return fmt.Errorf("simulated engine: sequences (%d), token budget (%d), KV cache (%g GB), GPUs (%d) and model length (%d) cannot be negative",
			s.maxSeqs, s.tokenBudget, o.KVGB, o.TP, o.MaxModelLen)
	case s.tokenBudget < s.maxSeqs:
		return fmt.Errorf("simulated engine: a token budget of %d is too small for %d sequences, which need one token each per iteration; raise it or lower the sequences",
			s.tokenBudget, s.maxSeqs)
	}
	return nil
}

func (s *setup) chooseMaxModelLen(asked int) error {
	room := s.kvTokens()
	if room < 2*blockTokens {
		return fmt.Errorf("simulated engine: the KV cache holds only %d tokens of %s; give it more memory", room, s.shape.name)
	}
	if asked > room {
		return fmt.Errorf("simulated engine: a model length of %d tokens does not fit into a KV cache of %d tokens; lower it or give the cache more memory", asked, room)
	}
	s.maxModelLen = or(asked, min(defaultMaxModelLen, s.shape.context, room))
	return nil
}

func (s *setup) kvTokens() int { return s.kvBlocks * blockTokens }

// fit spreads the model over the asked number of GPUs, or over as few (a power
// of two) as hold it.
func fit(m machine, sh shape, kvBytes float64, asked int) (machine, error) {
	need := sh.weightBytes() + kvBytes
	for n := max(asked, 1); n <= 64; n *= 2 {
		if need <= usableMemory*m.memory*float64(n) {
			return m.times(n), nil
		}
		if asked > 0 {
			return machine{}, fmt.Errorf("simulated engine: %s with %.1f GB of KV cache needs %.0f GB, more than %d × %s can give; take more or larger GPUs, or a smaller model",
				sh.name, kvBytes/1e9, need/1e9, n, m.name)
		}
	}
	return machine{}, fmt.Errorf("simulated engine: %s with %.1f GB of KV cache does not fit into 64 × %s; take a larger GPU or less cache", sh.name, kvBytes/1e9, m.name)
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// lookup finds an entry by name without regard to letter case.
func lookup[T any](what, name string, all []T, nameOf func(T) string) (T, error) {
	names := make([]string, len(all))
	for i, v := range all {
		if names[i] = nameOf(v); strings.EqualFold(names[i], name) {
			return v, nil
		}
	}
	var none T
	return none, fmt.Errorf("simulated engine: no %s is called %q; there are %s", what, name, strings.Join(names, ", "))
}
