// Package setup turns what was asked into what runs: a Config into a Session
// with its readers, and the embedded engine where no address was given.
package setup

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"sonde/config"
	"sonde/probe"
	"sonde/probe/api"
	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/prompt"
	"sonde/probe/roofline"
	"sonde/probe/sim"
	"sonde/probe/slo"
)

// Usage marks an error that other arguments or another input file would mend.
func Usage(err error) error { return &config.ExitError{Code: 2, Err: err} }

// Options are what a Session is to measure. What cannot be used is wrong usage.
func Options(c config.Config) (probe.Options, error) {
	tls, err := api.TLSConfig(c.CA, c.Insecure)
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
	limits, err := rooflineOf(c)
	if err != nil {
		return probe.Options{}, err
	}
	header := make(http.Header)
	for _, h := range c.Headers {
		header.Add(h.Name, h.Value)
	}
	return probe.Options{
		URL: c.URL, API: c.API, Model: c.Model, APIKey: c.APIKey, KeyFrom: c.KeyFrom, Header: header, TLS: tls, Idle: c.IdleTimeout,
		Metrics: c.Metrics, GPU: c.GPU, Prometheus: c.Prometheus, Selector: c.Selector,
		Roofline: limits, Prompts: prompts, Prefix: c.Prefix, Seed: seed,
		Load: wanted(c), MaxConcurrency: c.MaxConcurrency, MaxTokensTotal: c.MaxTokensTotal,
	}, nil
}

// rooflineOf reads --roofline; nil is to be found by itself.
func rooflineOf(c config.Config) (*roofline.Roofline, error) {
	if c.Roofline == "" {
		return nil, nil
	}
	r, err := roofline.Parse(c.Roofline)
	if err != nil {
		return nil, Usage(fmt.Errorf("--roofline: %w", err))
	}
	return &r, nil
}

func wanted(c config.Config) frame.Load {
	l := frame.Load{
		Concurrency: c.Concurrency, Rate: c.Rate, Poisson: c.Arrivals == "poisson",
		InputTokens: c.Input, OutputTokens: c.Output,
	}
	if c.Prompts != "" {
		l.InputTokens = 0 // a file's prompts are sent as they are
	}
	return l
}

// plan is what is to be run and summed up.
func plan(c config.Config, opt probe.Options) bench.Plan {
	p := bench.Plan{
		Load: wanted(c), Prefix: c.Prefix, Seed: opt.Seed,
		Requests: c.Requests, Duration: c.Duration,
		WarmupRequests: c.Warmup.Requests, WarmupFor: c.Warmup.Duration, DrainFor: c.IdleTimeout,
	}
	p.SLOs = slosOf(c.SLO)
	return p
}

func slosOf(asked []config.SLO) []slo.Target {
	var all []slo.Target
	for _, s := range asked {
		all = append(all, slo.Target{
			Metric: s.Metric, Quantile: s.Quantile, LimitMS: float64(s.Limit) / float64(time.Millisecond),
			SuccessShare: s.Share, Text: s.Text,
		})
	}
	return all
}

// Engine makes the embedded engine. Only options that cannot be used are wrong
// usage; a port that is taken is not.
func Engine(c config.Config) (*sim.Server, error) {
	m := c.Sim
	faults, err := sim.ParseFaults(m.Faults)
	if err != nil {
		return nil, Usage(err)
	}
	seed := m.Seed
	if seed == 0 {
		seed = c.Seed
	}
	engine, err := sim.New(sim.Options{
		Model: m.Model, GPU: m.GPU, TP: m.TP, Dtype: m.Dtype, KVDtype: m.KVDtype,
		MaxSeqs: m.MaxSeqs, TokenBudget: m.TokenBudget, MaxModelLen: m.MaxModelLen, BlockTokens: m.BlockSize, KVGB: m.KVGB,
		Unchunked: m.Unchunked, NoPrefixCache: m.NoPrefixCache, SpecTokens: m.SpecTokens, SpecAcceptance: m.SpecAcceptance,
		Disaggregated: m.Disaggregated, TransferGBs: m.TransferGBs, Speed: m.Speed, Seed: seed,
		Reasoning: m.Reasoning, Faults: faults, Scenario: m.Scenario,
	})
	if err != nil {
		return nil, Usage(err)
	}
	return engine, nil
}

// Scenarios has a line for each incident that the embedded engine can play.
func Scenarios() string { return sim.DescribeScenarios() }
