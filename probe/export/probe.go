package export

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sonde/probe/canary"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/plain"
)

// Prober probes on request, as blackbox exporters do: one probe for each scrape.
type Prober struct {
	Canary  *canary.Canary
	Targets []canary.Target
	// Any makes a target of an address that is not one of the Targets; nil: those are refused.
	Any func(address, model string) (canary.Target, error)
}

// Bounds of probes on request.
const (
	mostProbes    = 8                      // at once; further ones get 503
	scrapeMargin  = 500 * time.Millisecond // of the scraper's own time-out, for the way back
	shortestProbe = 100 * time.Millisecond
)

// Page is /probe?target=NAME, with &model= where several targets are at one address.
func (p *Prober) Page() Page {
	page := Page{Path: "/probe", About: "one probe at once: /probe?target=URL, with &model=NAME where a URL has several", Handler: p.handler()}
	for i := range p.Targets {
		t := &p.Targets[i]
		query := url.Values{"target": {t.Name}}
		if t.Model != "" {
			query.Set("model", t.Model)
		}
		page.Links = append(page.Links, "/probe?"+query.Encode())
	}
	return page
}

func (p *Prober) handler() http.Handler {
	slots := make(chan struct{}, mostProbes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			http.Error(w, fmt.Sprintf("%d probes are in flight: try again later", mostProbes), http.StatusServiceUnavailable)
			return
		}
		began := time.Now()
		row, status, err := p.probe(r)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		registry := prometheus.NewRegistry()
		registry.MustRegister(probed{&row, time.Since(began)})
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}

// probe makes the probe that is requested. Without one the status says whose fault that is.
func (p *Prober) probe(r *http.Request) (row canary.Row, status int, err error) {
	query := r.URL.Query()
	address, model := query.Get("target"), query.Get("model")
	if address == "" {
		return row, http.StatusBadRequest, errors.New("name a target: /probe?target=URL")
	}
	c, index, timeout := p.Canary, p.find(address, model), time.Duration(0)
	switch {
	case index >= 0:
		timeout = p.Targets[index].Timeout
	case p.Any == nil:
		return row, http.StatusNotFound, errors.New("that is none of the targets: start sonde canary with it, or with --probe-any")
	default:
		t, err := p.Any(address, model)
		if err != nil {
			return row, http.StatusBadRequest, err
		}
		defer t.Prober.Close()
		c, index, timeout = canary.New(canary.Options{Targets: []canary.Target{t}}), 0, t.Timeout
	}
	row, err = c.Now(r.Context(), index, within(timeout, r.Header))
	var over *canary.OverBudget
	switch {
	case errors.As(err, &over):
		return row, http.StatusTooManyRequests, err
	case errors.Is(err, context.Canceled):
		return row, http.StatusServiceUnavailable, errors.New("the probe was cut short")
	case err != nil:
		return row, http.StatusServiceUnavailable, err
	}
	return row, http.StatusOK, nil
}

// find is the index of a target by its name or address, −1 if it is none.
func (p *Prober) find(address, model string) int {
	rows := p.Canary.Rows()
	for i := range p.Targets {
		t := &p.Targets[i]
		named := address == t.Name || strings.TrimRight(address, "/") == strings.TrimRight(t.Endpoint, "/")
		if named && (model == "" || model == t.Model || model == rows[i].Model) {
			return i
		}
	}
	return -1
}

// within is how long a probe may take: as long as the target's, and less where the scraper
// waits for less.
func within(timeout time.Duration, header http.Header) time.Duration {
	s, err := strconv.ParseFloat(header.Get("X-Prometheus-Scrape-Timeout-Seconds"), 64)
	if err != nil || !(s > 0) || s > timeout.Seconds() {
		return timeout
	}
	return min(timeout, max(shortestProbe, time.Duration(s*float64(time.Second))-scrapeMargin))
}

// probed are the metrics of one probe.
type probed struct {
	row  *canary.Row
	took time.Duration
}

var (
	descProbeSuccess  = single("probe_success", "Whether the probe succeeded.")
	descProbeDuration = single("probe_duration_seconds", "How long the probe took, with the wait for its turn.")
	descProbeInfo     = single("sonde_probe_info", "The model that was probed; always 1.", "model")
	descProbeFailure  = single("sonde_probe_failure_info", "How the probe failed; always 1.", "class")
	descProbeTTFT     = single("sonde_probe_ttft_seconds", "Time from the first byte of the request to its first token (TTFT).")
	descProbeTPOT     = single("sonde_probe_tpot_seconds", "Mean time per output token after the first (TPOT).")
	descProbeE2E      = single("sonde_probe_e2e_seconds", "Time from the first byte of the request to its last token (E2E).")
	descProbeSetup    = single("sonde_probe_connection_setup_seconds", "Time to open the connection: DNS, TCP and TLS; 0 on one that was open.")
	descProbeInput    = single("sonde_probe_prompt_tokens", "Prompt tokens, as the server counts them.")
	descProbeOutput   = single("sonde_probe_generation_tokens", "Output tokens.")
	descProbeRate     = single("sonde_probe_generation_tokens_per_second", "Output tokens per second after the first token.")
)

func single(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (p probed) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(p, to) }

// Collect implements prometheus.Collector.
func (p probed) Collect(to chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	r := &p.row.Last
	send(descProbeDuration, p.took.Seconds())
	send(descProbeInfo, 1, plain.Line(p.row.Model, len(p.row.Model)))
	if r.Class != measure.OK {
		send(descProbeSuccess, 0)
		send(descProbeFailure, 1, string(r.Class))
		return
	}
	send(descProbeSuccess, 1)
	send(descProbeSetup, r.Setup.Seconds())
	for _, f := range []struct {
		desc *prometheus.Desc
		v    opt.Float
	}{
		{descProbeTTFT, p.row.TTFT.Scale(1e-3)}, {descProbeTPOT, p.row.TPOT.Scale(1e-3)}, {descProbeE2E, p.row.E2E.Scale(1e-3)}, {descProbeRate, p.row.PerS()},
	} {
		if f.v.OK {
			send(f.desc, f.v.V)
		}
	}
	if r.InTokens > 0 {
		send(descProbeInput, float64(r.InTokens))
	}
	send(descProbeOutput, float64(r.OutTokens))
}
