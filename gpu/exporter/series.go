package exporter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/probe/prom"
)

// gpuNames are the names of all families that exporters of GPUs publish, as a
// regular expression; AMD's with the usual word before them, or none.
var gpuNames = "DCGM_FI_(DEV|PROF)_.*|" + nvidiaPrefix + ".*|(amd_)?(" + strings.Join(amdFamilies, "|") + ")"

// gpuMarkers are families of which every exporter publishes at least one, whatever
// its settings and the GPU's model.
var gpuMarkers = []string{
	nvidiaPrefix + "gpu_info", "gpu_total_vram", "amd_gpu_total_vram", "gpu_gfx_activity", "amd_gpu_gfx_activity",
	"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS",
	"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE",
}

// OpenSeries prepares to read the series of GPU exporters from a Prometheus server, of
// all hosts that the selector matches.
func OpenSeries(server *prom.Server, selector string) *Series {
	return &Series{server: server, past: newPast(), poller: prom.NewPoller(server, prom.Query{
		What: "DCGM_FI_…, nvidia_smi_… or gpu_… (AMD)", Names: gpuNames, Selector: selector, Markers: gpuMarkers,
	})}
}

// Series reads what a Prometheus server has scraped from exporters.
type Series struct {
	server *prom.Server
	poller *prom.Poller
	past   *past
	status gpu.Status // the last one, while there is no newer sample
	due    time.Time  // no query before
	unread error      // why the newest samples give no reading
}

// Close has nothing to release.
func (p *Series) Close() {}

// Read queries the server when newer samples are due.
func (p *Series) Read(ctx context.Context) (gpu.Status, error) {
	if now := time.Now(); !now.Before(p.due) {
		news, err := p.poller.Next(ctx)
		if err != nil {
			return gpu.Status{}, err
		}
		p.due = now.Add(p.poller.Pause())
		if news.Fresh {
			p.unread = p.take(news)
		}
		p.status.Why, p.status.Period = "", max(p.poller.Period(), p.past.rhythm.Period())
		if news.Stale != nil {
			p.status.Why = news.Stale.Error()
		}
	}
	st := p.status
	st.GPUs = slices.Clone(st.GPUs)
	p.past.freeze(st.GPUs, st.Period)
	return st, p.unread
}

// take makes readings of news.
func (p *Series) take(news prom.News) error {
	for i := range news.Samples {
		nameHost(&news.Samples[i])
	}
	kinds, gpus := readPage(prom.FromSamples(news.Samples), news.At, nil, p.past)
	if len(gpus) == 0 {
		return fmt.Errorf("the series of exporters in Prometheus at %s name no GPU (labels UUID, gpu; uuid; gpu_id)", p.server.URL())
	}
	for i := range gpus {
		gpus[i].Source += gpu.ViaPrometheus
		gpus[i].Note = gpu.Join(slices.Concat([]string{gpus[i].Note}, news.Notes)...)
	}
	p.status = gpu.Status{At: p.past.newest, GPUs: gpus, Source: namesOf(kinds) + " from Prometheus " + p.server.URL()}
	return nil
}

// nameHost keeps GPUs of several hosts apart where the exporter does not name
// its host.
func nameHost(s *prom.Sample) {
	if label(s.Labels, hostLabels...) == "" && s.Labels["instance"] != "" {
		s.Labels["Hostname"] = s.Labels["instance"]
	}
}
