// Package config turns flags, environment, file and profile into one validated Config;
// the command tree then runs the action.
package config

import (
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/length"
	"sonde/probe/sim"
	"sonde/probe/slo"
	"sonde/ui/theme"
)

// Config holds all settings, validated, as plain values. A command fills the
// settings that it takes; the others keep their zero values.
type Config struct {
	URL       string // "" is the embedded engine; a missing scheme or IPv6 brackets are added, nothing else is changed
	Model     string // "" is the first one that the server lists
	APIKey    string // secret
	KeyFrom   string // the place that APIKey came from, in words, such as "the variable OPENAI_API_KEY"; "" without a key
	APIKeyEnv string // environment variable that APIKey is taken from when it is not given itself
	Headers   []Header
	API       string // "chat" or "completions"
	Insecure  bool   // accept any TLS certificate
	CA        string // PEM file with further certificate authorities
	Cert      string // PEM file with the client certificate; "" is none
	Key       string // PEM file with its key; "" is the file of the certificate

	Watch          bool             // live screen without load
	Concurrency    int              // closed loop: streams in flight; open loop: the cap
	Rate           arrivals.Rate    // open loop: requests per second; 0 is the closed loop
	Arrivals       arrivals.Process // gaps between requests in the open loop
	Input          length.Length    // of prompts
	Output         length.Length    // of answers
	Workload       string           // name of the pair of lengths
	Prompts        string           // file with prompts; "" is synthetic ones
	Turns          int              // messages of the user in a conversation; 1: every request stands alone
	Think          time.Duration    // mean pause between two turns
	Prefix         string           // "unique", "shared" or "same"
	Seed           uint64           // meaningful if SeedSet
	SeedSet        bool             // false: fresh prompts on every run
	IdleTimeout    time.Duration    // longest wait for data
	MaxConcurrency int              // safety cap
	MaxTokensTotal int64            // safety cap on all tokens of a run; 0 is none

	Trace Trace

	Requests int           // end after this many; 0 is no limit
	Duration time.Duration // end after this long; 0 is no limit
	Warmup   Warmup

	SLO []slo.Target

	Metrics    string // address of the engine's metrics page, "off", "prometheus", or "" to find it
	GPU        string // "auto", "nvml", "off", "ssh", ssh://…, "prometheus" or the address of an exporter
	Prometheus string // address of a Prometheus server; Metrics and GPU are "prometheus" unless they were given
	Selector   string // matchers in PromQL that choose its series, without braces; "" is all of them
	Roofline   string // MODEL@GPU of the lower bounds; "" finds both
	Record     string // file for Frames and requests; "" is none

	Listen string // host:port for /metrics, "" is none

	Workers Workers

	Format string // "table", "json", "csv", "md", "vllm" or "" for table on a terminal and else json
	Out    string // file for the summary; "" is standard output

	Against string  // file of another run to show behind this one; "" is none
	Beside  *Config // the same with a second endpoint, which gets the same load; nil is none

	ASCII bool        // draw with ASCII characters only
	Color string      // "auto", "always" or "never"
	Theme theme.Theme // of the live screen

	Calibrate bool // sonde doctor: measure the error of sonde itself

	File    string // settings file, given or found; it may be missing only at its default place
	Profile string // chosen [profile.NAME] of that file

	Sim     Sim
	Sweep   Sweep
	Plan    Plan
	Replay  Replay
	Canary  Canary
	Compare Compare
	Merge   Merge
}

// Sim is the embedded engine: what is zero is automatic.
type Sim struct {
	sim.Options
	Listen string // host:port of `sonde sim`
	Inject string // faults from the start, as a list; "" is a healthy server
}

// Header is one extra HTTP header of every request. Its value counts as secret.
type Header struct{ Name, Value string }

func (h Header) String() string { return h.Name + ": " + h.Value }

// Warmup is what precedes the measured window: a number of requests or a time.
type Warmup struct {
	Requests int
	Duration time.Duration
}

// Sweep holds the settings of `sonde sweep`.
type Sweep struct {
	Levels   string        // as it was written; "auto" finds them
	Amounts  []float64     // the levels, in their order; none: found automatically
	Open     bool          // amounts are requests per second, else streams
	PerLevel time.Duration // the longest time at one level; 0 is chosen by the sweep
}

// Replay holds the settings of `sonde replay`.
type Replay struct {
	File  string        // "" if none was named
	Speed float64       // seconds of the recording in one second
	At    time.Duration // where to begin, since the session began; 0 is the beginning
	SLO   []slo.Target  // none: those of the recording
}

// BuildInfo is what --version prints.
type BuildInfo struct {
	Version, Commit, Date string
	NVML                  bool // built with NVIDIA's management library
}
