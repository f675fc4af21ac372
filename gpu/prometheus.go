package gpu

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sonde/probe/promql"
	"sonde/probe/promtext"
)

// dcgmMarkers are families of which every exporter publishes at least one,
// whatever its counters file and the GPU's model.
var dcgmMarkers = []string{
	"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS",
	"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE",
}

// OpenPrometheus prepares a source that reads DCGM's series from a Prometheus
// server, of all hosts that the selector leaves. It reads nothing before Run.
func OpenPrometheus(server *promql.Server, selector string, interval time.Duration) Source {
	s := &source{interval: interval}
	s.find = func(context.Context) (reader, error) {
		return &scraped{server: server, poller: promql.NewPoller(server, promql.Query{
			What: "DCGM_FI_DEV_… or DCGM_FI_PROF_…", Names: "DCGM_FI_(DEV|PROF)_.*", Selector: selector, Markers: dcgmMarkers,
		})}, nil
	}
	s.latest.Store(&Status{Why: Looking})
	return s
}

// scraped reads what a Prometheus server has scraped from exporters.
type scraped struct {
	server *promql.Server
	poller *promql.Poller
	status Status    // the last one, for as long as there is no newer sample
	due    time.Time // no query before
	unread error     // why the newest samples give no reading
}

func (p *scraped) close() {}

func (p *scraped) read(ctx context.Context) (Status, error) {
	now := time.Now()
	if now.Before(p.due) {
		return p.status, p.unread
	}
	news, err := p.poller.Next(ctx)
	if err != nil {
		return Status{}, err
	}
	p.due = now.Add(p.poller.Pause())
	if news.Fresh {
		p.unread = p.take(news)
	}
	p.status.Why, p.status.Period = news.Why, p.poller.Period()
	return p.status, p.unread
}

// take makes readings of news.
func (p *scraped) take(news promql.News) error {
	for i := range news.Samples {
		nameHost(&news.Samples[i])
	}
	gpus := readDCGM(promtext.FromSamples(news.Samples), nil)
	if len(gpus) == 0 {
		return fmt.Errorf("DCGM's series in Prometheus at %s name no GPU (labels UUID, gpu)", p.server.URL())
	}
	for i := range gpus {
		gpus[i].Source = "dcgm-prometheus"
		gpus[i].Note = joinNotes(slices.Concat([]string{gpus[i].Note}, news.Notes)...)
	}
	p.status = Status{At: news.At, GPUs: gpus, Source: "dcgm from Prometheus " + p.server.URL()}
	return nil
}

// nameHost keeps GPUs of several hosts apart where the exporter does not name
// its host.
func nameHost(s *promtext.Sample) {
	if label(*s, "Hostname", "hostname") == "" && s.Labels["instance"] != "" {
		s.Labels["Hostname"] = s.Labels["instance"]
	}
}
