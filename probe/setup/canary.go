package setup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"sonde/config"
	"sonde/probe/api"
	"sonde/probe/canary"
	"sonde/probe/canary/prober"
	"sonde/probe/export"
	"sonde/probe/plain"
)

// Canary is a canary with what belongs to it.
type Canary struct {
	*canary.Canary
	Targets []canary.Target
	Metrics string // address of the metrics page; "" if nothing is served
}

// OpenCanary prepares a canary, and serves its metrics until ctx ends; what goes wrong there
// later goes to fail. It sends nothing.
func OpenCanary(ctx context.Context, c config.Config, version string, fail func(error)) (*Canary, error) {
	if len(c.Canary.Each) == 0 {
		return nil, Usage(errors.New("canary needs a target: sonde canary URL…, @PROFILE or --targets FILE"))
	}
	seed := c.Canary.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	k := &Canary{}
	for i, one := range c.Canary.Each {
		t, err := canaryTarget(one, seed+uint64(i))
		if err != nil {
			return nil, Usage(err)
		}
		k.Targets = append(k.Targets, t)
	}
	metrics := export.New(version)
	k.Canary = canary.New(canary.Options{Targets: k.Targets, Seed: seed, Ended: metrics.Count})
	metrics.WatchCanary(k.Canary)
	if c.Listen == "" {
		return k, nil
	}
	demand := export.Prober{Canary: k.Canary, Targets: k.Targets}
	if c.Canary.ProbeAny {
		demand.Any = func(address, model string) (canary.Target, error) { return anyTarget(c, address, model) }
	}
	url, err := export.Serve(ctx, c.Listen, fail, metrics.Page(), demand.Page())
	k.Metrics = url + "/metrics"
	return k, err
}

// anyTarget is a target that somebody else names. It gets no credentials of ours.
func anyTarget(c config.Config, address, model string) (canary.Target, error) {
	url, err := config.NormalURL(address)
	if err != nil {
		return canary.Target{}, fmt.Errorf("target %w", err)
	}
	c.URL, c.Model, c.Canary.Name = url, model, plain.RedactURL(url)
	c.APIKey, c.KeyFrom, c.Headers, c.Cert, c.Key = "", "", nil, "", ""
	return canaryTarget(c, rand.Uint64())
}

// canaryTarget is one target by its own settings.
func canaryTarget(c config.Config, seed uint64) (canary.Target, error) {
	tls, err := api.TLSConfig(api.TLSFiles{CA: c.CA, Cert: c.Cert, Key: c.Key}, c.Insecure)
	if err != nil {
		return canary.Target{}, err
	}
	p, err := prober.New(prober.Options{
		URL: c.URL, API: c.API, Model: c.Model, APIKey: c.APIKey, KeyFrom: c.KeyFrom, Header: headerOf(c), TLS: tls,
		Idle: c.Canary.Timeout, Input: c.Canary.Input, Output: c.Canary.Output, Seed: seed,
	})
	return canary.Target{
		Name: c.Canary.Name, Endpoint: endpointLabel(c), Model: c.Model, Prober: p, Every: c.Canary.Every, Timeout: c.Canary.Timeout,
		Input: c.Canary.Input, Output: c.Canary.Output, Budget: int(c.Canary.Budget), SLOs: c.Canary.SLO,
	}, err
}

// headerOf are the further headers of every request.
func headerOf(c config.Config) http.Header {
	header := make(http.Header)
	for _, h := range c.Headers {
		header.Add(h.Name, h.Value)
	}
	return header
}
