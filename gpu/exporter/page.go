package exporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
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
	gpus   []gpu.Reading
	format pageFormat
	past   *past
}

// Open reads the page once; its error is a sentence for people.
func Open(ctx context.Context, address string, o Options) (*Page, error) {
	u, err := gpu.PageURL(address)
	if err != nil {
		return nil, err
	}
	e := &Page{url: u.String(), shown: gpu.ShownURL(u), opt: o, parser: prom.NewParser(isGPUFamily), past: newPast()}
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
		return gpu.Status{}, fmt.Errorf("GPU exporter at %s: %w", e.shown, err)
	}
	if err := e.take(body); err != nil {
		return gpu.Status{}, err
	}
	return e.status(), nil
}

// take reads a page.
func (e *Page) take(body []byte) error {
	page, err := e.parser.Parse(body)
	if err != nil {
		return &PageError{fmt.Sprintf("GPU exporter at %s: %v", e.shown, err), err.Error()}
	}
	format, gpus := readPage(page, time.Now(), e.hostMemory, e.past)
	if len(gpus) == 0 {
		if why := whyNoGPUs(page); why != "" {
			return &PageError{fmt.Sprintf("GPU exporter at %s lists no GPUs: %s", e.shown, why), why}
		}
		return &PageError{fmt.Sprintf("no GPU metrics at %s: use the page of dcgm-exporter, nvidia_gpu_exporter or AMD's exporter", e.shown),
			"without GPU metrics"}
	}
	e.format, e.gpus = format, gpus
	e.past.learn(gpu.Newest(gpus))
	return nil
}

func (e *Page) status() gpu.Status {
	st := gpu.Status{At: e.past.newest, Source: e.format.name + " " + e.shown}
	if period := e.past.rhythm.Period(); period > 0 {
		st.Period = max(time.Second, period.Round(time.Second))
	}
	st.GPUs = e.past.freeze(e.gpus, st.Period)
	note := ""
	switch {
	case e.past.changes == 1 && time.Since(st.At) >= firstPageAlone:
		note = "values of unknown age: the page has not changed since it was first read"
	case st.Period >= 3*time.Second && st.Period >= 2*e.opt.Interval:
		note = fmt.Sprintf("exporter updates every %.0f s", st.Period.Seconds())
		if e.format.faster != "" {
			note += " (" + e.format.faster + ")"
		}
	}
	for i := range st.GPUs {
		if st.GPUs[i].Doubts&gpu.DoubtFrozen == 0 {
			st.GPUs[i].Note = gpu.Join(st.GPUs[i].Note, note)
		}
	}
	return st
}

func (e *Page) fetch(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, errors.New("not a usable address")
	}
	resp, err := e.opt.Client.Do(req)
	if err != nil {
		return nil, plainError(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		status := fmt.Sprintf("HTTP %d", resp.StatusCode)
		return nil, &PageError{status, fmt.Sprintf("with HTTP %d", resp.StatusCode)}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPageBytes+1))
	switch {
	case err != nil:
		return nil, plainError(err)
	case len(body) > maxPageBytes:
		return nil, fmt.Errorf("the page is larger than %d MiB", maxPageBytes>>20)
	}
	return body, nil
}

// plainError drops the address, which may contain credentials, and calls time-outs
// "request timed out".
func plainError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("request timed out")
	}
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err
	}
	return errors.New(gpu.Clean(err.Error()))
}
