package gpu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sonde/probe/prom"
)

const (
	maxPageBytes = 8 << 20
	// pageTimeout bounds one reading of a page. Readings never overlap.
	pageTimeout = 5 * time.Second
	// probeTimeout is for the first reading: a filtered port answers nothing.
	probeTimeout = 2 * time.Second
)

// exporter reads an exporter's page, of any of pageFormats. The page holds new values only once per
// collection of the exporter, so that most readings see the same values again.
type exporter struct {
	url        string
	shown      string // without credentials and query
	client     *http.Client
	interval   time.Duration
	hostMemory func() (used, total uint64, ok bool) // nil: not this machine's page

	seen      fingerprint
	changedAt time.Time
	gpus      []Reading
	format    pageFormat
	cadence   cadence
}

// openExporter reads the page once; its error is a sentence for people.
func openExporter(ctx context.Context, address string, o Options) (reader, error) {
	u, err := pageURL(address)
	if err != nil {
		return nil, err
	}
	e := &exporter{
		url:      u.String(),
		shown:    shownURL(u),
		client:   o.Client,
		interval: o.Interval,
	}
	if o.Local && isLoopback(u.Hostname()) {
		e.hostMemory = systemMemory
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if _, err := e.read(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// pageURL completes the address of a page: HTTP and /metrics are meant unless
// said otherwise.
func pageURL(address string) (*url.URL, error) {
	full := address
	if !strings.Contains(full, "://") {
		full = "http://" + full
	}
	u, err := url.Parse(full)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("--gpu is neither auto, nvml, off nor the address of a page: use http://HOST:PORT/metrics")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/metrics"
	}
	return u, nil
}

// shownURL is an address without credentials and query.
func shownURL(u *url.URL) string {
	return clean((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// pageError is the reason why a page that answers has no readings.
type pageError struct{ long, short string }

func (e *pageError) Error() string { return e.long }

func (e *exporter) close() {}

func (e *exporter) read(ctx context.Context) (Status, error) {
	body, err := e.fetch(ctx)
	if err != nil {
		return Status{}, fmt.Errorf("GPU exporter at %s: %w", e.shown, err)
	}
	if now := time.Now(); e.seen.changed(body) || e.gpus == nil {
		if err := e.take(body); err != nil {
			return Status{}, err
		}
		e.changedAt = now
		e.cadence.change(now)
	}
	return e.status(), nil
}

// take reads a page with new values.
func (e *exporter) take(body []byte) error {
	page, err := prom.Parse(body, isGPUFamily)
	if err != nil {
		return &pageError{fmt.Sprintf("GPU exporter at %s: %v", e.shown, err), err.Error()}
	}
	format, gpus := readPage(page, e.hostMemory)
	if len(gpus) == 0 {
		if why := whyNoGPUs(page); why != "" {
			return &pageError{fmt.Sprintf("GPU exporter at %s has no GPU: %s", e.shown, why), why}
		}
		return &pageError{fmt.Sprintf("no GPU metrics at %s: it is the page of dcgm-exporter, nvidia_gpu_exporter or AMD's exporter that is needed", e.shown),
			"without GPU metrics"}
	}
	e.format, e.gpus = format, gpus
	return nil
}

// status is a copy: what was published before must not change.
func (e *exporter) status() Status {
	st := Status{
		At: e.changedAt, GPUs: slices.Clone(e.gpus), Source: e.format.name + " " + e.shown, Period: e.cadence.period(),
	}
	if st.Period < 3*time.Second || st.Period < 2*e.interval {
		return st
	}
	slow := fmt.Sprintf("exporter updates every %.0f s", st.Period.Seconds())
	if e.format.faster != "" {
		slow += " (" + e.format.faster + ")"
	}
	for i := range st.GPUs {
		st.GPUs[i].Note = joinNotes(st.GPUs[i].Note, slow)
	}
	return st
}

func (e *exporter) fetch(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, errors.New("not a usable address")
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, plainError(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said := fmt.Sprintf("it answers HTTP %d", resp.StatusCode)
		return nil, &pageError{said, fmt.Sprintf("with HTTP %d", resp.StatusCode)}
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

// plainError drops the address, which may hold credentials, and says "no answer"
// for time-outs.
func plainError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err
	}
	return errors.New(clean(err.Error()))
}
