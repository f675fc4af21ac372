package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"sonde/gpu"
	"sonde/gpu/exporter"
	"sonde/gpu/nvml"
	"sonde/gpu/smi"
	"sonde/gpu/tool"
	"sonde/probe/guard"
)

// exporterPort is where an exporter usually listens.
type exporterPort struct{ port, exporter string }

// exporterPorts are tried in parallel, and the first one in this order that has GPUs
// is taken: DCGM reports most. A second dcgm-exporter on a host gets 9401.
var exporterPorts = []exporterPort{
	{"9400", "dcgm-exporter"}, {"9401", "dcgm-exporter"}, {"9835", "nvidia_gpu_exporter"}, {"5000", "AMD's exporter"},
}

// drivers are the ways to the driver of this machine; tests replace them.
type drivers struct {
	library func() (reader, error)
	tool    func(context.Context) (reader, error)
}

func localDrivers(o Options) drivers {
	return drivers{
		func() (reader, error) { return nvml.Open(o.Interval) },
		func(ctx context.Context) (reader, error) { return smi.Open(ctx, tool.Local{}, o.Interval) },
	}
}

// finder returns the discovery for a mode, nil for "off".
func finder(o Options) func(context.Context) (reader, error) {
	page := func(address string) func(context.Context) (reader, error) {
		return func(ctx context.Context) (reader, error) { return openPage(ctx, address, o) }
	}
	mode := strings.TrimSpace(o.Mode)
	switch {
	case ViaSSH(mode):
		return finderSSH(mode, o)
	case mode == "off":
		return nil
	case mode == "nvml":
		return func(ctx context.Context) (reader, error) { return openDriver(ctx, o, localDrivers(o)) }
	case mode != "" && mode != "auto":
		return page(mode)
	case o.EngineGPUURL != "":
		return page(o.EngineGPUURL)
	case o.Local:
		return func(ctx context.Context) (reader, error) { return findLocal(ctx, o, localDrivers(o)) }
	}
	return func(ctx context.Context) (reader, error) { return findRemote(ctx, o) }
}

func openPage(ctx context.Context, address string, o Options) (reader, error) {
	return exporter.Open(ctx, address, exporter.Options{Client: o.Client, Interval: o.Interval, Local: o.Local})
}

// openDriver uses the driver's library, else nvidia-smi, which costs more. Both failures are
// reported: either may be missing where the other works.
func openDriver(ctx context.Context, o Options, d drivers) (reader, error) {
	library, err := d.library()
	if err == nil {
		return elsewhere(library, o), nil
	}
	program, programErr := d.tool(ctx)
	if programErr == nil {
		return elsewhere(program, o), nil
	}
	var code nvml.Code
	if same := errors.Unwrap(programErr); same == err || errors.Is(programErr, tool.ErrMissing) && errors.As(err, &code) {
		return nil, err // nvidia-smi says the same, or nothing
	}
	return nil, fmt.Errorf("%w; %w", err, programErr)
}

// findLocal prefers the driver: it is faster than an exporter and reports more.
func findLocal(ctx context.Context, o Options, d drivers) (reader, error) {
	r, driverErr := openDriver(ctx, o, d)
	if driverErr == nil {
		return r, nil
	}
	r, exporterErr := tryExporters(ctx, "127.0.0.1", o)
	if exporterErr == nil {
		return r, nil
	}
	return nil, fmt.Errorf("%w; %w", driverErr, exporterErr)
}

// findRemote tries the endpoint's host only: the GPUs of this machine say nothing
// about it.
func findRemote(ctx context.Context, o Options) (reader, error) {
	host := strings.Trim(o.TargetHost, "[]") // IPv6 as in a URL
	if host == "" {
		return nil, errors.New("no host to look for a GPU exporter: add --gpu URL")
	}
	r, err := tryExporters(ctx, host, o)
	if err != nil {
		return nil, fmt.Errorf("%w: start dcgm-exporter there (with -c 1000 for a value each second), or add --gpu URL or --prometheus URL", err)
	}
	return r, nil
}

// tryExporters tries the usual ports at the same time. A port where nothing listens is
// not mentioned, because nobody gave it; one that answers something else is.
func tryExporters(ctx context.Context, host string, o Options) (reader, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		reader reader
		err    error
	}
	answers := make([]chan answer, len(exporterPorts))
	for i, p := range exporterPorts {
		answers[i] = make(chan answer, 1)
		guard.Go("GPU exporter", func(err error) { answers[i] <- answer{err: err} }, func() {
			r, err := openPage(ctx, "http://"+net.JoinHostPort(host, p.port), o)
			answers[i] <- answer{r, err}
		})
	}
	var odd []string
	for i, p := range exporterPorts {
		a := <-answers[i]
		if a.err == nil {
			return a.reader, nil
		}
		var page *exporter.PageError
		if errors.As(a.err, &page) {
			odd = append(odd, "port "+p.port+" answers, but "+page.Short)
		}
	}
	return nil, noExporter(host, odd)
}

// noExporter lists what was tried.
func noExporter(host string, odd []string) error {
	ports := make([]string, len(exporterPorts))
	for i, p := range exporterPorts {
		ports[i] = p.port
	}
	text := fmt.Sprintf("no GPU exporter at %s (tried ports %s)", gpu.Clean(host), strings.Join(ports, ", "))
	return errors.New(gpu.Join(append([]string{text}, odd...)...))
}

// elsewhere labels the readings of this machine where the endpoint is on another one.
func elsewhere(r reader, o Options) reader {
	if o.Local || o.TargetHost == "" {
		return r
	}
	return foreign{r, "a GPU of this machine, not of " + gpu.Clean(o.TargetHost)}
}

// foreign adds to each reading whose GPU it is.
type foreign struct {
	reader
	note string
}

func (f foreign) Read(ctx context.Context) (gpu.Status, error) {
	st, err := f.reader.Read(ctx)
	readings := make([]gpu.Reading, len(st.GPUs))
	for i, r := range st.GPUs {
		r.Note = gpu.Join(f.note, r.Note)
		readings[i] = r
	}
	st.GPUs = readings
	return st, err
}
