package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/prompt"
	"sonde/probe/roofline"
)

// Options are what a Session is to measure.
type Options struct {
	URL      string // as the user gave it
	API      string // "chat" or "completions"
	Model    string // "" = the first the server lists
	APIKey   string
	KeyFrom  string      // the place that APIKey came from, in words; "" if not known
	Header   http.Header // further headers of every request
	TLS      *tls.Config // nil = the system's roots
	Idle     time.Duration
	Embedded bool // URL is our own engine in this process

	Metrics    string // the engine's metrics: "" = found, "off", FromPrometheus, or an address
	GPU        string // "auto", "nvml", "off", FromPrometheus, or an exporter's address
	Prometheus string // address of the server for what is FromPrometheus
	Selector   string // further matchers of its queries, in PromQL; "" = none

	Roofline *roofline.Roofline // model and hardware of the lower bounds; nil = found by itself

	Prompts prompt.Source
	Prefix  string // what a prefix cache may reuse, until Load says otherwise
	Seed    uint64

	Load           frame.Load
	Watch          bool // nothing is ever sent, whatever a reader asks of the Controls
	MaxConcurrency int
	Trace          *arrivals.Trace // what a Load with a Trace replays; nil: none
	MaxTokensTotal int64           // stop the load after so many tokens, in and out; 0 = no limit

	Tick    time.Duration // length of a slice; 0 = 250 ms
	Process Process       // how the process that measures fares; nil = our own, as it is

	// Remote makes the processes that send the load; nil = this one does.
	Remote func(RemoteSetup) (Remote, error)

	// Dial opens every connection of the measurement; nil = the machine's network. Where time is
	// virtual the network is too.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// DefaultTick is the length of a slice.
const DefaultTick = 250 * time.Millisecond

// Bounds of what an operator may ask for.
const (
	minTokens = 1
	maxTokens = 1 << 20
)

// clamp brings a load into range.
func (o Options) clamp(l frame.Load) frame.Load {
	l.Concurrency = min(max(l.Concurrency, 0), o.MaxConcurrency)
	l.InputTokens = min(max(l.InputTokens, minTokens), maxTokens)
	if !slices.Contains(prompt.Prefixes, prompt.Prefix(l.Prefix)) {
		l.Prefix = o.Prefix
	}
	if _, fromFile := o.Prompts.(*prompt.File); fromFile {
		l.InputTokens, l.InputShape, l.Prefix = 0, length.Shape{}, o.Prefix // no length is requested: they are sent as they are
	}
	l.OutputTokens = min(max(l.OutputTokens, minTokens), maxTokens)
	l.Rate = max(l.Rate, 0)
	if o.Watch {
		l = l.Idle()
	}
	if l.Think = max(l.Think, 0); l.Turns < 2 {
		l.Turns, l.Think = 0, 0
	}
	if o.Trace == nil {
		l.Trace = ""
	}
	if l.Rate == 0 {
		l.Ramp, l.Trace = arrivals.Ramp{}, ""
	}
	return l
}
