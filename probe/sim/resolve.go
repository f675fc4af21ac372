package sim

import (
	"fmt"
	"math"
	"strings"
)

// resolve fills in defaults and refuses what cannot work.
func (o Options) resolve() (setup, error) {
	d := DefaultOptions()
	s := setup{
		maxSeqs: or(o.MaxSeqs, d.MaxSeqs), tokenBudget: or(o.TokenBudget, d.TokenBudget), blockTokens: or(o.BlockTokens, d.BlockTokens),
		speed: or(o.Speed, d.Speed), seed: o.Seed, chunked: !o.Unchunked, prefixCache: !o.NoPrefixCache, virtual: o.VirtualTime,
		specTokens: o.SpecTokens, specAcceptance: or(o.SpecAcceptance, d.SpecAcceptance),
		disaggregated: o.Disaggregated, transfer: or(o.TransferGBs, d.TransferGBs) * 1e9,
	}
	one, err := s.choose(or(o.Model, d.Model), or(o.GPU, d.GPU), or(o.Dtype, d.Dtype), or(o.KVDtype, d.KVDtype))
	if err != nil {
		return setup{}, err
	}
	if s.behaviour, err = o.behaviour(); err != nil {
		return setup{}, err
	}
	kvBytes := or(o.KVGB*1e9, float64(defaultKVTokens)*s.shape.kvBytesPerToken())
	if err := s.checkNumbers(o, kvBytes); err != nil {
		return setup{}, err
	}
	if s.machine, err = fit(one, s.shape, kvBytes, o.TP); err != nil {
		return setup{}, err
	}
	s.kvBlocks = int(kvBytes / (float64(s.blockTokens) * s.shape.kvBytesPerToken()))
	return s, s.chooseMaxModelLen(o.MaxModelLen)
}

// choose looks up the model with its dtypes, and the GPU.
func (s *setup) choose(model, gpu, weights, kv string) (one machine, err error) {
	if s.shape, err = shapeNamed(model); err != nil {
		return one, err
	}
	if s.shape.weights, err = dtypeNamed(weights); err != nil {
		return one, err
	}
	if s.shape.kv, err = kvDtypeNamed(kv); err != nil {
		return one, err
	}
	return machineNamed(gpu)
}

func (s *setup) checkNumbers(o Options, kvBytes float64) error {
	sum := kvBytes + s.speed + s.specAcceptance + s.transfer
	finite := !math.IsNaN(sum) && !math.IsInf(sum, 0)
	switch {
	case !finite || s.speed <= 0 || s.transfer <= 0:
		return fmt.Errorf("simulated engine: speed %g, KV cache %g GB and transfer %g GB/s have to be positive numbers", s.speed, o.KVGB, s.transfer/1e9)
	case s.maxSeqs < 1 || s.tokenBudget < 1 || s.blockTokens < 1 || o.TP < 0 || o.MaxModelLen < 0 || kvBytes < 0:
		return fmt.Errorf("simulated engine: sequences (%d), token budget (%d), block size (%d), KV cache (%g GB), GPUs (%d) and model length (%d) cannot be negative",
			s.maxSeqs, s.tokenBudget, s.blockTokens, o.KVGB, o.TP, o.MaxModelLen)
	case s.specTokens < 0 || s.specAcceptance < 0 || s.specAcceptance > 1:
		return fmt.Errorf("simulated engine: %d draft tokens, of which the model accepts %g: take a number from 0 on and a share of 0 to 1", s.specTokens, s.specAcceptance)
	case s.tokenBudget < s.maxSeqs*(1+s.specTokens):
		return fmt.Errorf("simulated engine: a token budget of %d is too small for %d sequences, which need %s each per iteration; raise it or lower the sequences",
			s.tokenBudget, s.maxSeqs, s.tokensPerStep())
	}
	return nil
}

func (s *setup) tokensPerStep() string {
	if s.specTokens == 0 {
		return "one token"
	}
	return fmt.Sprintf("one token and %d drafts", s.specTokens)
}

func (s *setup) chooseMaxModelLen(asked int) error {
	room := s.kvTokens()
	if room < 2*s.blockTokens {
		return fmt.Errorf("simulated engine: the KV cache holds only %d tokens of %s; give it more memory", room, s.shape.name)
	}
	if asked > room {
		return fmt.Errorf("simulated engine: a model length of %d tokens does not fit into a KV cache of %d tokens; lower it or give the cache more memory", asked, room)
	}
	s.maxModelLen = or(asked, min(defaultMaxModelLen, s.shape.context, room))
	return nil
}

// mostGPUs is the largest tensor parallel group: with more GPUs, nothing but
// communication is left.
const mostGPUs = 64

// fit spreads the model over the asked number of GPUs, or over as few (a power
// of two) as hold it.
func fit(m machine, sh shape, kvBytes float64, asked int) (machine, error) {
	if asked > mostGPUs || asked > 0 && sh.heads%asked != 0 {
		return machine{}, fmt.Errorf("simulated engine: %s cannot be spread over %d GPUs; take a number up to %d that divides its %d attention heads",
			sh.name, asked, mostGPUs, sh.heads)
	}
	for n := max(asked, 1); n <= mostGPUs && sh.heads%n == 0; n *= 2 {
		together := m.times(n)
		need := sh.weightBytes() + kvBytes*together.kvReplicas(&sh)
		if need <= usableMemory*m.memory*float64(n) {
			return together, nil
		}
		if asked > 0 {
			return machine{}, fmt.Errorf("simulated engine: %s with %.1f GB of KV cache needs %.0f GB, more than %d × %s can give; take more or larger GPUs, or a smaller model",
				sh.fullName(), kvBytes/1e9, need/1e9, n, m.name)
		}
	}
	return machine{}, fmt.Errorf("simulated engine: %s with %.1f GB of KV cache does not fit into as many %s as it can be spread over; take a larger GPU or less cache", sh.fullName(), kvBytes/1e9, m.name)
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
	known := names(all, nameOf)
	for i, v := range all {
		if strings.EqualFold(known[i], name) {
			return v, nil
		}
	}
	var none T
	return none, fmt.Errorf("simulated engine: no %s is called %q; there are %s", what, name, strings.Join(known, ", "))
}

func names[T any](all []T, nameOf func(T) string) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = nameOf(v)
	}
	return out
}
