// Package sim is the embedded engine: a discrete-event model of a GPU inference
// engine with continuous batching, in real time, behind a real HTTP server. It
// speaks the OpenAI API, vLLM's metric names and a DCGM exporter page, and it
// names itself "sonde-sim" wherever a server says who it is.
//
// The physics is a roofline: an iteration lasts as long as its arithmetic or
// its memory traffic, whichever takes longer, plus an overhead (step.go). The
// scheduler decides what goes into an iteration (scheduler.go), drafts make several
// tokens of one step (speculation.go), prompts may be read elsewhere
// (disaggregation.go), and what goes wrong while it runs are conditions
// (conditions.go). None of this knows the clock or the network: the driver makes it
// happen at the right moment (driver.go), the rest is protocol.
package sim

// Options choose the simulated machine and engine. The zero value of every
// field stands for its default.
type Options struct {
	Model   string // of the table in shape.go, any letter case
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
	SpecAcceptance float64 // probability that the model agrees with a draft, 0 to 1; default 0.7

	Disaggregated bool    // prompts are read by as many GPUs again, which do nothing else
	TransferGBs   float64 // of the link that their KV crosses, 1e9 bytes/s; default 25

	Speed float64 // 2 is a machine twice as fast
	Seed  uint64  // words and natural lengths of answers, drafts that hold

	Reasoning float64 // of the answers to a chat: a share below 1, a number of tokens from 1 on
	Faults    Faults  // what goes wrong on request
	Scenario  string  // one of Scenarios(), which plays from the start; "" for none

	VirtualTime bool // the clock is a test's (testing/synctest): its timers are exact, and the system's would not know of it
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
	defaultDtype       = "bf16"
	defaultKVDtype     = "auto"
	defaultMaxSeqs     = 128
	defaultTokenBudget = 2048 // vLLM's default for chunked prefill
	defaultMaxModelLen = 16384
	defaultKVTokens    = 32768
	defaultBlockTokens = 16 // vLLM's
	defaultAcceptance  = 0.7
	defaultTransferGBs = 25 // 200 Gbit/s
	defaultSpeed       = 1.0
)

// usableMemory is the share of GPU memory for weights and KV cache; the rest
// holds activations and the driver's own. vLLM's default is the same 0.9.
const usableMemory = 0.9

// DefaultOptions is the machine of the demo. KVGB, TP and MaxModelLen stay 0,
// because they follow from the model and the GPU; so does what is off.
func DefaultOptions() Options {
	return Options{
		Model: defaultModel, GPU: defaultGPU, Dtype: defaultDtype, KVDtype: defaultKVDtype, Speed: defaultSpeed,
		MaxSeqs: defaultMaxSeqs, TokenBudget: defaultTokenBudget, BlockTokens: defaultBlockTokens,
		SpecAcceptance: defaultAcceptance, TransferGBs: defaultTransferGBs,
	}
}

// setup is a complete, checked configuration.
type setup struct {
	shape          shape
	machine        machine
	maxSeqs        int
	tokenBudget    int
	maxModelLen    int
	blockTokens    int // in a KV block
	kvBlocks       int
	speed          float64
	seed           uint64
	chunked        bool
	prefixCache    bool
	specTokens     int     // drafts in a decode step
	specAcceptance float64 // 0 to 1
	disaggregated  bool
	transfer       float64 // bytes/s, of the link between prefill and decode
	behaviour
	virtual  bool // no timers of the system
	instance int  // tells engines on one machine apart: the port
}

func (s *setup) kvTokens() int { return s.kvBlocks * s.blockTokens }
