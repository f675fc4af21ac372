package gpu

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/probe/prom"
)

// gpuNames are the names of all families that exporters of GPUs publish, as a
// regular expression; AMD's with the usual word before them, or none.
var gpuNames = "DCGM_FI_(DEV|PROF)_.*|" + nvidiaExporterPrefix + ".*|(amd_)?(" + strings.Join(amdFamilies, "|") + ")"

// gpuMarkers are families of which every exporter publishes at least one, whatever
// its settings and the GPU's model.
var gpuMarkers = []string{
	nvidiaExporterPrefix + "gpu_info", "gpu_total_vram", "amd_gpu_total_vram", "gpu_gfx_activity", "amd_gpu_gfx_activity",
	"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS",
	"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE",
}

// OpenPrometheus prepares a source that reads the series of GPU exporters from a
// Prometheus server, of all hosts that the selector leaves. It reads nothing before Run.
func OpenPrometheus(server *prom.Server, selector string, interval time.Duration) Source {
	s := &source{interval: interval}
	s.find = func(context.Context) (reader, error) {
		return &scraped{server: server, poller: prom.NewPoller(server, prom.Query{
			What: "DCGM_FI_…, nvidia_smi_… or gpu_… (AMD)", Names: gpuNames, Selector: selector, Markers: gpuMarkers,
		})}, nil
	}
	s.latest.Store(&Status{Why: Looking})
	return s
}

// scraped reads what a Prometheus server has scraped from exporters.
type scraped struct {
	server *prom.Server
	poller *prom.Poller
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
func (p *scraped) take(news prom.News) error {
	for i := range news.Samples {
		nameHost(&news.Samples[i])
	}
	kinds, gpus := readFleet(prom.FromSamples(news.Samples))
	if len(gpus) == 0 {
		return fmt.Errorf("the series of exporters in Prometheus at %s name no GPU (labels UUID, gpu; uuid; gpu_id)", p.server.URL())
	}
	put(gpus, places(news.Samples))
	for i := range gpus {
		gpus[i].Source += viaPrometheus
		gpus[i].Note = joinNotes(slices.Concat([]string{gpus[i].Note}, news.Notes)...)
	}
	p.status = Status{At: news.At, GPUs: gpus, Source: kinds + " from Prometheus " + p.server.URL()}
	return nil
}

// viaPrometheus ends the Source of a reading that a Prometheus server has scraped.
const viaPrometheus = "-prometheus"

// readFleet reads what exporters of all kinds said. Of a GPU with two of them the
// one that tells more counts, which comes first.
func readFleet(page prom.Page) (kinds string, gpus []Reading) {
	var names []string
	seen := map[string]bool{}
	for _, f := range pageFormats {
		found := f.read(page, nil)
		found = slices.DeleteFunc(found, func(r Reading) bool { return seen[r.ID] })
		if len(found) > 0 {
			names = append(names, f.name)
		}
		for i := range found {
			seen[found[i].ID] = true
		}
		gpus = append(gpus, found...)
	}
	return strings.Join(names, ", "), gpus
}

// nameHost keeps GPUs of several hosts apart where the exporter does not name
// its host.
func nameHost(s *prom.Sample) {
	if label(*s, "Hostname", "hostname") == "" && s.Labels["instance"] != "" {
		s.Labels["Hostname"] = s.Labels["instance"]
	}
}
