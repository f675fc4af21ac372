package gpu

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
)

// exporterPorts are dcgm-exporter's own port and the one that a second exporter
// on the same host usually gets.
var exporterPorts = []string{"9400", "9401"}

// finder gives the discovery for a mode, nil for "off".
func finder(o Options) func(context.Context) (reader, error) {
	nvml := func(context.Context) (reader, error) { return openLocal(o) }
	switch mode := strings.TrimSpace(o.Mode); {
	case mode == "off":
		return nil
	case mode == "nvml":
		return nvml
	case mode != "" && mode != "auto":
		return func(ctx context.Context) (reader, error) { return openExporter(ctx, mode, o) }
	case o.EngineGPUURL != "":
		return func(ctx context.Context) (reader, error) { return openExporter(ctx, o.EngineGPUURL, o) }
	case o.Local:
		return func(ctx context.Context) (reader, error) { return findLocal(ctx, o, nvml) }
	}
	return func(ctx context.Context) (reader, error) { return findRemote(ctx, o) }
}

// findLocal prefers the driver: it is faster than an exporter and tells more.
func findLocal(ctx context.Context, o Options, nvml func(context.Context) (reader, error)) (reader, error) {
	r, driverErr := nvml(ctx)
	if driverErr == nil {
		return r, nil
	}
	if r, ok := tryExporters(ctx, "127.0.0.1", o); ok {
		return r, nil
	}
	return nil, fmt.Errorf("%w; no GPU exporter at 127.0.0.1:9400", driverErr)
}

func findRemote(ctx context.Context, o Options) (reader, error) {
	host := strings.Trim(o.TargetHost, "[]") // IPv6 as it stands in a URL
	if host == "" {
		return nil, errors.New("no host to look for a GPU exporter: give --gpu URL")
	}
	if r, ok := tryExporters(ctx, host, o); ok {
		return r, nil
	}
	return nil, fmt.Errorf("no GPU exporter at %s: give --gpu URL", clean(net.JoinHostPort(host, exporterPorts[0])))
}

// tryExporters asks the usual ports. Why each of them failed is of no interest
// for addresses that nobody gave.
func tryExporters(ctx context.Context, host string, o Options) (reader, bool) {
	for _, port := range exporterPorts {
		if r, err := openExporter(ctx, "http://"+net.JoinHostPort(host, port), o); err == nil {
			return r, true
		}
	}
	return nil, false
}
