package exporter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/probe/plain"
	"sonde/probe/prom"
)

const (
	maxPageBytes = 8 << 20
	// pageTimeout bounds one reading of a page. Readings never overlap.
	pageTimeout = 5 * time.Second
	// probeTimeout is for the first reading: a filtered port answers nothing.
	probeTimeout = 2 * time.Second
	// firstPageAlone is how long the first page may stay unchanged before a note says so.
	// How old its values were is unknown: they may be from before the load began.
	firstPageAlone = 3 * time.Second
)

// Options say how a page is read.
type Options struct {
	Client   *http.Client  // it should carry no credentials
	Interval time.Duration // between readings
	Local    bool          // a loopback address is this machine's own page
}

// Page reads the page of an exporter, of any of pageFormats. It has new values only
// once per collection of the exporter, so that most readings see the same ones again.
type Page struct {
	url        string
	shown      string // without credentials and query
	opt        Options
	hostMemory nvml.HostMemory // nil: not this machine's page

	parser *prom.Parser
	past   *past
}

// Open reads the page once; its error is a sentence for people.
func Open(ctx context.Context, address string, o Options) (*Page, error) {
	u, ok := plain.PageURL(address)
	if !ok {
		return nil, errors.New("--gpu must be auto, nvml, off, ssh, ssh://[user@]host[:port] or the address of a page: use http://HOST:PORT/metrics")
	}
	e := &Page{url: u.String(), shown: plain.Address(u), opt: o, parser: prom.NewParser(isGPUFamily), past: newPast()}
	if o.Local && gpu.IsLoopback(u.Hostname()) {
		e.hostMemory = nvml.SystemMemory
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if _, err := e.Read(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// PageError is the reason why a page that answers has no readings.
type PageError struct {
	long  string
	Short string // after "port 9400 answers, but"
}

func (e *PageError) Error() string { return e.long }

// Close has nothing to release.
func (e *Page) Close() {}

// Read gets the page and makes readings of it.
func (e *Page) Read(ctx context.Context) (gpu.Status, error) {
	body, err := e.fetch(ctx)
	if err != nil {
		return gpu.Status{}, err
	}
	page, err := e.parser.Parse(body)
	if err != nil {
		return gpu.Status{}, &PageError{fmt.Sprintf("GPU exporter at %s: %v", e.shown, err), err.Error()}
	}
	kinds, gpus := readPage(page, time.Now(), e.hostMemory, e.past)
	if len(gpus) == 0 {
		if why := whyNoGPUs(page); why != "" {
			return gpu.Status{}, &PageError{fmt.Sprintf("GPU exporter at %s lists no GPUs: %s", e.shown, why), why}
		}
		return gpu.Status{}, &PageError{fmt.Sprintf("no GPU metrics at %s: use the page of dcgm-exporter, nvidia_gpu_exporter or AMD's exporter", e.shown),
			"without GPU metrics"}
	}
	return e.status(kinds, gpus), nil
}

func (e *Page) status(kinds []pageFormat, gpus []gpu.Reading) gpu.Status {
	st := gpu.Status{At: e.past.newest, GPUs: withoutPlace(gpus), Source: namesOf(kinds) + " " + e.shown}
	if period := e.past.rhythm.Period(); period > 0 {
		st.Period = max(time.Second, period.Round(time.Second))
	}
	e.past.freeze(st.GPUs, st.Period)
	note := ""
	switch {
	case e.past.changes == 1 && time.Since(st.At) >= firstPageAlone:
		note = "values of unknown age: the page has not changed since it was first read"
	case st.Period >= 3*time.Second && st.Period >= 2*e.opt.Interval:
		note = fmt.Sprintf("exporter updates every %.0f s", st.Period.Seconds())
		if faster := kinds[0].faster; faster != "" {
			note += " (" + faster + ")"
		}
	}
	for i := range st.GPUs {
		if st.GPUs[i].Doubts&gpu.DoubtFrozen == 0 {
			st.GPUs[i].Note = gpu.Join(st.GPUs[i].Note, note)
		}
	}
	return st
}

// withoutPlace removes where GPUs are: only the labels of a Prometheus server can be compared
// with those of the engine.
func withoutPlace(gpus []gpu.Reading) []gpu.Reading {
	for i := range gpus {
		gpus[i].Host, gpus[i].Exporter, gpus[i].Pod = "", "", ""
	}
	return gpus
}

func (e *Page) fetch(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	exporter := "the GPU exporter at " + e.shown
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, fmt.Errorf("the address of %s cannot be used", exporter)
	}
	resp, err := e.opt.Client.Do(req)
	if err != nil {
		return nil, errors.New(plain.Explain(exporter, err, pageTimeout).String())
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &PageError{fmt.Sprintf("%s answers HTTP %d", exporter, resp.StatusCode), fmt.Sprintf("with HTTP %d", resp.StatusCode)}
	}
	body, err := plain.ReadBody(resp, maxPageBytes)
	if err != nil {
		return nil, errors.New(plain.Explain(exporter, err, pageTimeout).String())
	}
	return body, nil
}
