package gpu

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"sonde/probe/guard"
)

// exporterPort is where an exporter usually listens.
type exporterPort struct{ port, exporter string }

// exporterPorts are asked in parallel, and the first one in this order that has
// GPUs is taken: DCGM tells most. A second dcgm-exporter on a host gets 9401.
var exporterPorts = []exporterPort{
	{"9400", "dcgm-exporter"}, {"9401", "dcgm-exporter"}, {"9835", "nvidia_gpu_exporter"}, {"5000", "AMD's exporter"},
}

// finder gives the discovery for a mode, nil for "off".
func finder(o Options) func(context.Context) (reader, error) {
	switch mode := strings.TrimSpace(o.Mode); {
	case mode == "off":
		return nil
	case mode == "nvml":
		return func(ctx context.Context) (reader, error) { return openDriver(ctx, o, openLocal, runSMI) }
	case mode != "" && mode != "auto":
		return func(ctx context.Context) (reader, error) { return openExporter(ctx, mode, o) }
	case o.EngineGPUURL != "":
		return func(ctx context.Context) (reader, error) { return openExporter(ctx, o.EngineGPUURL, o) }
	case o.Local:
		return func(ctx context.Context) (reader, error) { return findLocal(ctx, o, openLocal, runSMI) }
	}
	return func(ctx context.Context) (reader, error) { return findRemote(ctx, o) }
}

// openDriver asks the driver through its library, else through nvidia-smi, which
// tells less. Both reasons count: a library may be missing where the tool works,
// and the other way round.
func openDriver(ctx context.Context, o Options, nvml func(Options) (reader, error), smi func(context.Context, ...string) smiOutput) (reader, error) {
	r, err := nvml(o)
	if err == nil {
		return elsewhere(r, o), nil
	}
	tool, toolErr := openSMI(ctx, smi, o.Interval)
	if toolErr == nil {
		return elsewhere(tool, o), nil
	}
	var driverSaid code
	if meant := errors.Unwrap(toolErr); meant == err || errors.Is(toolErr, errNoSMI) && errors.As(err, &driverSaid) {
		return nil, err // the tool says the same, or nothing
	}
	return nil, fmt.Errorf("%w; %w", err, toolErr)
}

// findLocal prefers the driver: it is faster than an exporter and tells more.
func findLocal(ctx context.Context, o Options, nvml func(Options) (reader, error), smi func(context.Context, ...string) smiOutput) (reader, error) {
	r, driverErr := openDriver(ctx, o, nvml, smi)
	if driverErr == nil {
		return r, nil
	}
	r, exporterErr := tryExporters(ctx, "127.0.0.1", o)
	if exporterErr == nil {
		return r, nil
	}
	return nil, fmt.Errorf("%w; %w", driverErr, exporterErr)
}

// findRemote looks at the endpoint's host only: the GPUs of this machine say
// nothing about it.
func findRemote(ctx context.Context, o Options) (reader, error) {
	host := strings.Trim(o.TargetHost, "[]") // IPv6 as it stands in a URL
	if host == "" {
		return nil, errors.New("no host to look for a GPU exporter: give --gpu URL")
	}
	r, err := tryExporters(ctx, host, o)
	if err != nil {
		return nil, fmt.Errorf("%w: start dcgm-exporter there (with -c 1000 for a value each second), or give --gpu URL or --prometheus URL", err)
	}
	return r, nil
}

// tryExporters asks the usual ports at the same time. That nothing listens is of
// no interest for addresses that nobody gave; what answers and is no exporter is.
func tryExporters(ctx context.Context, host string, o Options) (reader, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make([]chan portAnswer, len(exporterPorts))
	for i, p := range exporterPorts {
		answers[i] = make(chan portAnswer, 1)
		guard.Go("GPU exporter", func(err error) { answers[i] <- portAnswer{err: err} }, func() {
			r, err := openExporter(ctx, "http://"+net.JoinHostPort(host, p.port), o)
			answers[i] <- portAnswer{r, err}
		})
	}
	var odd []string
	for i, p := range exporterPorts {
		a := <-answers[i]
		if a.err == nil {
			return a.reader, nil
		}
		var said *pageError
		if errors.As(a.err, &said) {
			odd = append(odd, "port "+p.port+" answers, but "+said.short)
		}
	}
	return nil, noExporter(host, odd)
}

type portAnswer struct {
	reader reader
	err    error
}

// noExporter says what was tried.
func noExporter(host string, odd []string) error {
	ports := make([]string, len(exporterPorts))
	for i, p := range exporterPorts {
		ports[i] = p.port
	}
	text := fmt.Sprintf("no GPU exporter at %s (tried ports %s)", clean(host), strings.Join(ports, ", "))
	return errors.New(joinNotes(append([]string{text}, odd...)...))
}

// elsewhere labels the readings of this machine where the endpoint is another one.
func elsewhere(r reader, o Options) reader {
	if o.Local || o.TargetHost == "" {
		return r
	}
	return foreign{r, "a GPU of this machine, not of " + clean(o.TargetHost)}
}

// foreign says with each reading whose GPU it is.
type foreign struct {
	reader
	note string
}

func (f foreign) read(ctx context.Context) (Status, error) {
	st, err := f.reader.read(ctx)
	readings := make([]Reading, len(st.GPUs))
	for i, r := range st.GPUs {
		r.Note = joinNotes(f.note, r.Note)
		readings[i] = r
	}
	st.GPUs = readings
	return st, err
}
