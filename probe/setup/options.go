// Package setup turns a Config into what runs: a Session with its readers, and the
// embedded engine if there is no URL.
package setup

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"sonde/config"
	"sonde/probe"
	"sonde/probe/api"
	"sonde/probe/arrivals"
	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/prompt"
	"sonde/probe/roofline"
	"sonde/probe/sim"
	"sonde/probe/sweep"
	"sonde/probe/trace"
	"sonde/probe/units"
)

// Usage marks an error that the user can fix with other arguments or another file.
func Usage(err error) error { return &config.ExitError{Code: 2, Err: err} }

// Options are what a Session is to measure. Invalid values are usage errors.
func Options(c config.Config) (probe.Options, error) {
	tls, err := api.TLSConfig(api.TLSFiles{CA: c.CA, Cert: c.Cert, Key: c.Key}, c.Insecure)
	if err != nil {
		return probe.Options{}, Usage(err)
	}
	seed := c.Seed
	if !c.SeedSet {
		seed = uint64(rand.Uint32()) // small enough for every reader of JSON
	}
	prompts, err := prompt.Open(c.Prompts, prompt.Prefix(c.Prefix), seed)
	if err != nil {
		return probe.Options{}, Usage(err)
	}
	var limits *roofline.Roofline // nil: detect it
	if c.Roofline != "" {
		r, err := roofline.Parse(c.Roofline)
		if err != nil {
			return probe.Options{}, Usage(fmt.Errorf("--roofline: %w", err))
		}
		limits = &r
	}
	load := wanted(c)
	replay, err := openTrace(c.Trace, seed, &load)
	if err != nil {
		return probe.Options{}, Usage(fmt.Errorf("--trace: %w", err))
	}
	return probe.Options{
		URL: c.URL, API: c.API, Model: c.Model, APIKey: c.APIKey, KeyFrom: c.KeyFrom, Header: headerOf(c), TLS: tls, Idle: c.IdleTimeout,
		Metrics: c.Metrics, GPU: c.GPU, Prometheus: c.Prometheus, Selector: c.Selector,
		Roofline: limits, Prompts: prompts, Prefix: c.Prefix, Seed: seed,
		Load: load, Trace: replay, Watch: c.Watch, MaxConcurrency: c.MaxConcurrency, MaxTokensTotal: c.MaxTokensTotal,
	}, nil
}

func wanted(c config.Config) frame.Load {
	l := frame.Load{
		Concurrency: c.Concurrency, Rate: c.Rate.To, Ramp: c.Rate.Ramp, Arrivals: c.Arrivals,
		InputTokens: c.Input.Mean, InputShape: c.Input.Shape, OutputTokens: c.Output.Mean, OutputShape: c.Output.Shape,
	}
	if c.Turns > 1 {
		l.Turns, l.Think = c.Turns, c.Think
	}
	if c.Prompts != "" {
		l.InputTokens, l.InputShape = 0, length.Shape{} // a file's prompts are sent as they are
	}
	return l
}

// openTrace reads the trace that is to be replayed, and makes its means the load; nil if there is none.
func openTrace(c config.Trace, seed uint64, l *frame.Load) (*arrivals.Trace, error) {
	if c.File == "" {
		return nil, nil
	}
	whole, err := trace.Read(c.File)
	if err != nil {
		return nil, err
	}
	t := trace.Adjustment{From: c.From, Scale: c.Scale, Speed: c.Speed, Seed: seed}.Apply(whole)
	if len(t.Arrivals) == 0 {
		return nil, fmt.Errorf("%s has no requests left: it lasts %s, and --from skips %s", c.File, units.Span(whole.Length()), units.Span(c.From))
	}
	in, out := t.Means()
	t.Name += c.Adjusted()
	l.Trace, l.Rate, l.Ramp = t.Name, t.Rate(), arrivals.Ramp{}
	l.InputTokens, l.InputShape, l.OutputTokens, l.OutputShape = in, length.Shape{}, out, length.Shape{}
	return t, nil
}

// plan is what is to be run and summed up.
func plan(c config.Config, opt probe.Options) bench.Plan {
	return bench.Plan{
		Load: opt.Load, Prefix: c.Prefix, Seed: opt.Seed, SLOs: c.SLO,
		Requests: c.Requests, Duration: c.Duration,
		WarmupRequests: c.Warmup.Requests, WarmupFor: c.Warmup.Duration, DrainFor: c.IdleTimeout,
	}
}

// Ladder is what `sonde sweep` is to try.
func Ladder(c config.Config) sweep.Plan {
	l := wanted(c)
	p := sweep.Plan{Load: l, Open: c.Sweep.Open, Rungs: c.Sweep.Amounts, PerLevel: c.Sweep.PerLevel, After: l.Idle()}
	if p.Open {
		p.From, p.Cap = c.Rate.To, mostRate
	} else {
		p.From, p.Cap = float64(c.Concurrency), float64(c.MaxConcurrency)
	}
	return p
}

// mostRate bounds the rates of an automatic ladder, in requests per second.
const mostRate = 100_000

// Engine makes the embedded engine. Only invalid options are usage errors; a port in
// use is not.
func Engine(c config.Config) (*sim.Server, error) {
	opt := c.Sim.Options
	var err error
	if opt.Faults, err = sim.ParseFaults(c.Sim.Inject); err != nil {
		return nil, Usage(err)
	}
	opt.Seed = cmp.Or(opt.Seed, c.Seed)
	engine, err := sim.New(opt)
	if err != nil {
		return nil, Usage(err)
	}
	return engine, nil
}
