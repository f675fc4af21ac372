package record

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/opt"
)

// engineLine is what the engine said; latencies are seconds, as it says them.
type engineLine struct {
	Identity identityLine  `json:"identity"`
	Reading  *readingLine  `json:"reading,omitempty"` // nil: there is none
	State    *engine.State `json:"state,omitempty"`   // nil: recorded before states were
	Why      string        `json:"why,omitempty"`
	Period   millis        `json:"period_ms,omitzero"`
	OnPage   []string      `json:"on_page,omitempty"`

	Replicas []replicaLine `json:"replicas,omitempty"`
}

type identityLine struct {
	Kind        string   `json:"kind"`
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Model       string   `json:"model"`
	Models      []string `json:"models"`
	MaxModelLen int      `json:"max_model_len"`
	MaxInputLen int      `json:"max_input_len,omitempty"`
	MaxRunning  int      `json:"max_running,omitempty"`
	About       []string `json:"about,omitempty"`
	MetricsURL  string   `json:"metrics_url"`
	MetricsWhy  string   `json:"metrics_why"`
	GPUURL      string   `json:"gpu_url"`
}

type gpuLine struct {
	At     time.Time    `json:"at,omitzero"`
	GPUs   []deviceLine `json:"gpus"`
	Source string       `json:"source"`
	Why    string       `json:"why,omitempty"`
	Scope  string       `json:"scope,omitempty"`
	Period millis       `json:"period_ms"`
}

type deviceLine struct {
	ID          string    `json:"id"`
	Index       int       `json:"index"`
	Name        string    `json:"name"`
	SM          opt.Float `json:"sm"`
	DRAM        opt.Float `json:"dram"`
	Tensor      opt.Float `json:"tensor"`
	Busy        opt.Float `json:"busy"`
	Occupancy   opt.Float `json:"occupancy"`
	MemBusy     opt.Float `json:"mem_busy"`
	MemUsed     opt.Float `json:"mem_used_bytes"`
	MemTotal    opt.Float `json:"mem_total_bytes"`
	MemShared   bool      `json:"mem_shared,omitempty"`
	Power       opt.Float `json:"power_w"`
	PowerLimit  opt.Float `json:"power_limit_w"`
	Temperature opt.Float `json:"temperature_c"`
	SMClock     opt.Float `json:"sm_clock_hz"`
	MemClock    opt.Float `json:"mem_clock_hz"`

	PCIeSent       opt.Float `json:"pcie_sent_bytes_per_s"`
	PCIeReceived   opt.Float `json:"pcie_received_bytes_per_s"`
	NVLinkSent     opt.Float `json:"nvlink_sent_bytes_per_s"`
	NVLinkReceived opt.Float `json:"nvlink_received_bytes_per_s"`

	Source        string    `json:"source"`
	Note          string    `json:"note,omitempty"`
	Parent        string    `json:"parent,omitempty"`
	Lost          bool      `json:"lost,omitempty"`
	Host          string    `json:"host,omitempty"`
	Exporter      string    `json:"exporter,omitempty"`
	Pod           string    `json:"pod,omitempty"`
	BandwidthPeak opt.Float `json:"bandwidth_peak_bytes_per_s"`
}

func fromEngine(s *engine.Status) *engineLine {
	l := &engineLine{Identity: identityLine(s.Identity), State: &s.State, Why: s.Why, Period: millis(s.Period), OnPage: s.OnPage, Replicas: fromReplicas(s.Replicas)}
	l.Identity.MetricsURL = withoutSecrets(l.Identity.MetricsURL)
	l.Identity.GPUURL = withoutSecrets(l.Identity.GPUURL)
	if !s.Have {
		return l
	}
	l.Reading = fromReading(&s.Reading)
	return l
}

func (l *engineLine) status() engine.Status {
	s := engine.Status{Identity: engine.Identity(l.Identity), State: l.state(), Why: l.Why, Period: time.Duration(l.Period), OnPage: l.OnPage, Replicas: toReplicas(l.Replicas)}
	if l.Reading == nil {
		return s
	}
	s.Have, s.Reading = true, l.Reading.reading()
	return s
}

// state is worked out for recordings that do not hold it.
func (l *engineLine) state() engine.State {
	switch {
	case l.State != nil:
		return *l.State
	case l.Why != "":
		return engine.Failed
	case l.Reading != nil:
		return engine.Ready
	}
	return engine.Connecting
}

func fromGPU(s *gpu.Status) *gpuLine {
	l := &gpuLine{At: s.At, Source: withoutSecrets(s.Source), Why: s.Why, Scope: s.Scope, Period: millis(s.Period), GPUs: []deviceLine{}}
	for _, r := range s.GPUs {
		l.GPUs = append(l.GPUs, deviceLine(r))
	}
	return l
}

func (l *gpuLine) status() gpu.Status {
	s := gpu.Status{At: l.At, Source: l.Source, Why: l.Why, Scope: l.Scope, Period: time.Duration(l.Period)}
	for _, d := range l.GPUs {
		s.GPUs = append(s.GPUs, gpu.Reading(d))
	}
	return s
}

// withoutSecrets takes the user and the values of the query out of every address
// in a text: both may be credentials.
func withoutSecrets(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	words := strings.Split(text, " ")
	for i, w := range words {
		u, err := url.Parse(w)
		if err != nil || u.Host == "" {
			continue
		}
		u.User = nil
		keys := []string{}
		for k := range u.Query() {
			keys = append(keys, url.QueryEscape(k)+"=…")
		}
		slices.Sort(keys)
		u.RawQuery = strings.Join(keys, "&")
		words[i] = u.String()
	}
	return strings.Join(words, " ")
}
