package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/api/wire"
	"sonde/probe/engine"
	"sonde/probe/units"
)

// prometheus says what comes from a Prometheus server, where one was given.
func (r *Report) prometheus(ctx context.Context, o Options, eng engine.Status, hw gpu.Status) {
	s := r.section("Prometheus")
	if o.Metrics != probe.FromPrometheus && o.GPU != probe.FromPrometheus {
		s.skipped("server", "not used: --prometheus URL reads replicas and GPUs that cannot be reached from here")
		return
	}
	s.server(ctx, o)
	if o.Selector != "" {
		s.ok("selector", o.Selector)
	}
	// Few clusters have series of both. A server that was given and has neither is a failure.
	engines, gpus := o.Metrics == probe.FromPrometheus && eng.Have, o.GPU == probe.FromPrometheus && len(hw.GPUs) > 0
	lacking := s.missing
	if !engines && !gpus {
		lacking = s.failed
	}
	if o.Metrics == probe.FromPrometheus {
		s.series("engine series", engines, eng.Why, max(eng.Reading.Replicas, len(eng.Replicas)), "replica", lacking)
		if gone := eng.Reading.GoneText(); gone != "" {
			s.missing("replicas", gone, "check its targets page: a target that is down is not scraped")
		}
	}
	if o.GPU == probe.FromPrometheus {
		s.series("GPU series", gpus, hw.Why, len(hw.GPUs), "GPU", lacking)
		if hw.Period > 0 {
			s.ok("scraped", fmt.Sprintf("every %.0f s: faster changes are missed", hw.Period.Seconds()))
		}
	}
}

// series files what a query brought, and of how many. A remark may come with samples:
// that they are old. lacking files that there is nothing.
func (s section) series(name string, have bool, why string, n int, of string, lacking func(name, found, advice string)) {
	switch {
	case have && why == "" && n > 0:
		s.ok(name, "of "+units.Count(float64(n), of))
	case have && why == "":
		s.ok(name, "found")
	case have:
		s.missing(name, why, "check its targets page: a target that is down is not scraped")
	default:
		lacking(name, why, "check the address and --selector; without --prometheus, measuring works")
	}
}

// server asks for the version. Anything with the query API will do, so an answer
// without a version is as good.
func (s section) server(ctx context.Context, o Options) {
	u, err := url.Parse(o.Prometheus)
	if err != nil || u.Host == "" {
		s.failed("server", "--prometheus: invalid URL", "use one such as http://host:9090")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	shown := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	root := strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/query"), "/api/v1")
	u.Path = root + "/api/v1/status/buildinfo"
	resp, err := httpClient(o).Do((&http.Request{URL: u, Header: http.Header{}}).WithContext(ctx))
	if err != nil {
		s.missing("server", "no answer from "+shown, "check that it is up and the address is right; the series below say more")
		return
	}
	defer resp.Body.Close()
	var answer struct{ Data struct{ Version string } }
	_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer) // without a version it says so
	if answer.Data.Version == "" {
		s.ok("server", shown+" answers, version unknown")
		return
	}
	s.ok("server", "version "+answer.Data.Version+" at "+shown)
}

// httpClient is for what is read besides the measurement.
func httpClient(o Options) *http.Client {
	transport := wire.NewTransport(o.TLS, nil)
	transport.DisableKeepAlives = true
	return &http.Client{Transport: transport}
}
