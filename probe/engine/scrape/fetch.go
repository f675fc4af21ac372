package scrape

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"sonde/probe/engine/kinds"
	"sonde/probe/plain"
)

const (
	listTimeout  = 10 * time.Second // the model list, which everything depends on
	probeTimeout = 2 * time.Second  // every other probe and every scrape
	maxList      = 8 << 20          // bytes of a model list or a probe's answer
	maxPage      = 32 << 20         // bytes of a metrics page
)

// answer is what a server said to one request.
type answer struct {
	url    string
	status int
	header http.Header
	body   kinds.Body
	at     time.Time // when the header of the answer arrived

	given      string // the credentials that were sent, in words; "" = none
	withheld   bool   // there are some, which were not sent because they are for another host
	redirected string // address that a redirect led to; "" = none
	proxy      string // host:port of a proxy that may have answered itself; "" = none
}

func (a answer) needsKey() bool {
	return a.status == http.StatusUnauthorized || a.status == http.StatusForbidden
}

// fetcher sends requests. The user's headers go with a request only when the
// caller asks for it.
type fetcher struct {
	config Config
	client *http.Client
	seen   map[string]kinds.Object // of Detect: what was asked already, nil without an answer
}

func newFetcher(c Config) fetcher {
	var client http.Client
	if c.Client != nil {
		client = *c.Client
	}
	client.CheckRedirect = plain.SameHost
	return fetcher{config: c, client: &client}
}

// call is one request: what for, with or without the user's headers, within which limits.
type call struct {
	address string
	accept  string
	withKey bool
	body    []byte // JSON of a POST; nil = GET
	limit   int64  // bytes of the response
	timeout time.Duration
}

// forJSON is the call for anything that answers in JSON.
func forJSON(address string, timeout time.Duration) call {
	return call{address: address, accept: "application/json", withKey: true, limit: maxList, timeout: timeout}
}

// page fetches a metrics page: without the user's headers, which most engines do not need
// there, and with them if the server demands them and the host is the same.
func (f fetcher) page(ctx context.Context, address string) (answer, error) {
	// The older format by name: client libraries choose OpenMetrics by themselves.
	c := call{address: address, accept: "text/plain;version=0.0.4, */*;q=0.1", limit: maxPage, timeout: probeTimeout}
	a, err := f.send(ctx, c)
	if err != nil || !a.needsKey() || len(f.config.Header) == 0 {
		return a, err
	}
	if !f.config.keyAllowed(address) {
		a.withheld = f.config.credentials() != ""
		return a, nil
	}
	c.withKey = true
	return f.send(ctx, c)
}

// send makes a call once.
func (f fetcher) send(ctx context.Context, c call) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	method := http.MethodGet
	if c.body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, f.config.withQuery(c.address), bytes.NewReader(c.body))
	if err != nil {
		return answer{}, err
	}
	f.addHeader(req, c)
	if req.Header.Set("Accept", c.accept); c.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	a := answer{url: c.address, status: resp.StatusCode, header: resp.Header, at: time.Now(), proxy: f.answeringProxy(c.address)}
	if c.withKey {
		a.given = f.config.credentials()
	}
	if resp.Request.URL.Path != req.URL.Path {
		a.redirected = resp.Request.URL.String()
	}
	a.body, err = plain.ReadBody(resp, c.limit)
	return a, err
}

// addHeader puts the user's headers on a request. The name of the server is no
// credential: a metrics page behind the same gateway is not found without it.
func (f fetcher) addHeader(req *http.Request, c call) {
	if c.withKey && f.config.Header != nil {
		req.Header = f.config.Header.Clone()
	}
	if host := f.config.Header.Get(hostHeader); host != "" && f.config.underBase(c.address) {
		req.Host = host
	}
}
