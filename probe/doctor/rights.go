package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"sonde/gpu"
	"sonde/gpu/watch"
	"sonde/probe"
	"sonde/probe/api"
	"sonde/probe/engine"
)

// Need is something missing that an administrator can allow with one command.
type Need string

// Needs of which the command is known.
const (
	NeedSGLangMetrics Need = "sglang-metrics"
	NeedLlamaMetrics  Need = "llama.cpp-metrics"
	NeedExporter      Need = "gpu-exporter"
	NeedOpenFiles     Need = "open-files"
	NeedPorts         Need = "local-ports"
)

// metricsNeeds are the engines that publish metrics only with a flag.
var metricsNeeds = map[string]Need{"sglang": NeedSGLangMetrics, "llama.cpp": NeedLlamaMetrics}

// metricsNeed returns what the engine's metrics need, if the engine publishes none. A
// page that refuses us or is out of reach needs something else.
func (o Options) metricsNeed(ctx context.Context, addr api.Address, status engine.Status) Need {
	need, known := metricsNeeds[status.Identity.Kind]
	if !known || o.Metrics != "" || status.State == engine.Off || status.Identity.MetricsURL != "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	config := scrapeConfig(o, addr)
	u, err := url.Parse(strings.TrimSuffix(config.Base, "/v1") + "/metrics")
	if err != nil {
		return ""
	}
	u.RawQuery = config.Query
	resp, err := config.Client.Do((&http.Request{URL: u, Header: config.Header}).WithContext(ctx))
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10))
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusNotImplemented {
		return need
	}
	return ""
}

// gpuNeed returns what the GPUs of another machine need to be seen from here.
func gpuNeed(mode string, local bool) Need {
	if local || watch.ViaSSH(mode) || mode == probe.FromPrometheus {
		return ""
	}
	return NeedExporter
}

// gpuWay returns the way to the GPUs, and our rights there. A login over SSH is part of
// the source's name.
func gpuWay(status gpu.Status) (way, rights string) {
	if status.Source == gpu.SourceNVML || status.Source == gpu.SourceSMI {
		return status.Source, ownRights()
	}
	return status.Source, ""
}

// rights names what requests carry to identify us, never its value.
func (o Options) rights(addr api.Address) string {
	var with []string
	if o.APIKey != "" {
		with = append(with, "API key")
	}
	if addr.User != nil {
		with = append(with, "user and password")
	}
	if len(o.Header) > 0 {
		with = append(with, "further headers")
	}
	if o.TLS != nil && (o.TLS.GetClientCertificate != nil || len(o.TLS.Certificates) > 0) {
		with = append(with, "client certificate")
	}
	if len(with) == 0 {
		return "no credentials"
	}
	return strings.Join(with, ", ")
}

// ownRights are those of this process.
func ownRights() string {
	switch id := os.Geteuid(); {
	case id == 0:
		return "root"
	case id > 0:
		return fmt.Sprintf("user ID %d", id)
	}
	return "" // Windows has none
}
