package probe

import (
	"context"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/promql"
)

// FromPrometheus is the source of engine metrics or GPU readings that stands for
// the Prometheus server of the Options.
const FromPrometheus = "prometheus"

// sources are what reads engine and GPU beside the load.
type sources struct {
	engine engineSource
	gpu    gpu.Source
}

// engineSource reads what the engine says.
type engineSource interface {
	Run(ctx context.Context)
	Latest() engine.Status // never waits
	SetModel(name string)
	SetReplica(name string)
}

// openSources prepares the reading of engine and GPU, each from its own address or
// from Prometheus.
func (s *Session) openSources(found engine.Config, id engine.Identity) (sources, error) {
	out := sources{}
	var server *promql.Server
	if s.opt.Metrics == FromPrometheus || s.opt.GPU == FromPrometheus {
		var err error
		if server, err = promql.NewServer(s.opt.Prometheus, s.httpClient()); err != nil {
			return out, err
		}
	}
	if s.opt.Metrics == FromPrometheus {
		out.engine = engine.NewPrometheusSource(server, s.opt.Selector, id)
	} else {
		out.engine = engine.NewSource(found, id)
	}
	if s.opt.GPU == FromPrometheus {
		out.gpu = gpu.OpenPrometheus(server, s.opt.Selector, time.Second)
	} else {
		out.gpu = gpu.Open(s.gpuOptions(id))
	}
	return out, nil
}

// metricsPage is the engine's page to look for: none when Prometheus reads it.
func (s *Session) metricsPage() string {
	if s.opt.Metrics == FromPrometheus {
		return "off"
	}
	return s.opt.Metrics
}
