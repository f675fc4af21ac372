package prom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sonde/probe/plain"
)

const (
	timeout   = 5 * time.Second // of one query
	maxBytes  = 32 << 20        // of an answer
	mostWords = 200             // runes of a server's words in a message
)

// Server is a Prometheus server, or anything else with its query API.
type Server struct {
	endpoint url.URL // of instant queries, with credentials
	base     string  // fit to be shown
	client   *http.Client
}

// NewServer makes a client of the server at an address, which may have a path
// before /api/v1, credentials, and a query that is kept. Nothing is sent yet. The
// error is a sentence that does not repeat the address.
func NewServer(address string, client *http.Client) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("--prometheus must be the address of a server, such as http://host:9090")
	}
	path := strings.TrimRight(u.Path, "/")
	path = strings.TrimSuffix(path, "/query")
	path = strings.TrimSuffix(path, "/api/v1")
	s := &Server{base: plain.Address(&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path})}
	s.endpoint = *u
	s.endpoint.Path, s.endpoint.RawPath, s.endpoint.Fragment = path+"/api/v1/query", "", ""
	var own http.Client
	if client != nil {
		own = *client
	}
	own.CheckRedirect = plain.SameHost
	s.client = &own
	return s, nil
}

// URL is the server's address without credentials and query.
func (s *Server) URL() string { return s.base }

// exchange is what came back for one query.
type exchange struct {
	status int
	body   []byte
	at     time.Time // when the header arrived
	date   time.Time // what the server's clock said; zero if it sent none
}

// ask sends one instant query, evaluated at the server's present.
func (s *Server) ask(ctx context.Context, query string) (exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	u := s.endpoint
	form := u.Query()
	form.Set("query", query)
	form.Set("timeout", timeout.String())
	form.Set("nocache", "1") // VictoriaMetrics would answer with what was 30 s ago
	u.RawQuery = form.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return exchange{}, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return exchange{}, err
	}
	defer resp.Body.Close()
	x := exchange{status: resp.StatusCode, at: time.Now()}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		x.date = date
	}
	x.body, err = plain.ReadBody(resp, maxBytes)
	return x, err
}

// refusal says in a sentence what a reply with an error, or with an error status,
// means.
func (s *Server) refusal(x exchange, r reply, foreign error) error {
	switch {
	case x.status == http.StatusUnauthorized || x.status == http.StatusForbidden:
		return fmt.Errorf("Prometheus at %s wants other credentials (%d): give them as --prometheus http://USER:PASSWORD@HOST", s.base, x.status)
	case foreign == nil && r.ErrorType == "bad_data":
		return fmt.Errorf("Prometheus at %s refuses the query: %s: check --selector", s.base, plain.Line(r.Error, mostWords))
	case foreign == nil && r.Status == "error":
		return fmt.Errorf("Prometheus at %s cannot answer (%d, %s): %s", s.base, x.status, plain.Line(r.ErrorType, mostWords), plain.Line(r.Error, mostWords))
	case x.status == http.StatusOK || x.status == http.StatusNotFound:
		return fmt.Errorf("%s is not a Prometheus server (%s at /api/v1/query): give its address with --prometheus", s.base, shape(x))
	}
	return fmt.Errorf("Prometheus at %s answers HTTP %d: check its log, or give another address with --prometheus", s.base, x.status)
}

// shape names what came instead of an answer.
func shape(x exchange) string {
	body := strings.TrimSpace(string(x.body[:min(len(x.body), 64)]))
	switch {
	case x.status != http.StatusOK:
		return fmt.Sprintf("HTTP %d", x.status)
	case body == "":
		return "nothing"
	case body[0] == '<':
		return "HTML"
	case body[0] == '{' || body[0] == '[':
		return "other JSON"
	}
	return "other text"
}

// unreached says why there was no answer, without the address of the request, which holds
// the credentials.
func (s *Server) unreached(err error) error {
	failed := plain.Explain("Prometheus at "+s.base, err, timeout)
	switch failed.Kind {
	case plain.Redirected:
		failed.Do = "give that address with --prometheus"
	case plain.TooLarge:
		failed.Do = "narrow the query with --selector"
	}
	return errors.New(failed.String())
}

// missing says that the query matches nothing.
func (s *Server) missing(q Query) error {
	wayOut := "does it scrape them?"
	if q.Selector != "" {
		wayOut = "check --selector, and that it scrapes them"
	}
	return fmt.Errorf("Prometheus at %s has no series %s: %s", s.base, q.described(), wayOut)
}
