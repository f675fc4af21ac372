// Package prober makes the requests of a canary: one at a time, to one endpoint and model.
package prober

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"sonde/probe/api"
	"sonde/probe/api/wire"
	"sonde/probe/engine"
	"sonde/probe/engine/scrape"
	"sonde/probe/measure"
	"sonde/probe/prompt"
)

// Options say what is requested, of whom.
type Options struct {
	URL     string
	API     string // "chat" or "completions"
	Model   string // "" is the first one that the server lists
	APIKey  string
	KeyFrom string // the place that APIKey came from, in words
	Header  http.Header
	TLS     *tls.Config
	Idle    time.Duration // longest wait for data
	Input   int           // tokens
	Output  int
	Seed    uint64

	Dial func(ctx context.Context, network, addr string) (net.Conn, error) // nil: the machine's network
}

// Prober makes requests to one endpoint. It belongs to one goroutine.
type Prober struct {
	opt    Options
	addr   api.Address
	epoch  time.Time
	random *rand.Rand

	client *api.Client // nil: the model is not known yet
	model  string
	dialed time.Time // when the connection in use was made, at the earliest
	ask    int       // tokens to ask for, so that the server counts Input
	count  uint64
}

// renewAfter is how long a connection is used. New ones also show whether names resolve,
// certificates are valid, and the next replica behind a load balancer answers.
const renewAfter = time.Minute

// New makes a Prober. It sends nothing.
func New(opt Options) (*Prober, error) {
	addr, err := api.ParseAddress(opt.URL, api.Kind(opt.API))
	if err != nil {
		return nil, err
	}
	return &Prober{opt: opt, addr: addr, epoch: time.Now(), ask: opt.Input, random: rand.New(rand.NewPCG(opt.Seed, 0))}, nil
}

// Probe makes one request and returns when it has ended, with the model that it named, "" if
// none is known yet.
func (p *Prober) Probe(ctx context.Context) (model string, r measure.Request) {
	began := time.Since(p.epoch)
	if p.client == nil {
		if failure := p.connect(ctx); failure != nil {
			return p.opt.Model, measure.Request{Class: failure.Class, Error: failure.Says, Start: began, End: time.Since(p.epoch)}
		}
	}
	r = p.request(ctx)
	r.Intent = began
	model = p.model
	if r.Cause == measure.NoSuchModel && p.opt.Model == "" {
		p.Close() // it serves another one now
	}
	return model, r
}

// request sends the next prompt.
func (p *Prober) request(ctx context.Context) measure.Request {
	if time.Since(p.dialed) > renewAfter {
		p.client.DropIdle()
		p.dialed = time.Now()
	}
	p.count++
	res := p.client.Do(ctx, api.Call{Text: p.text(), MaxTokens: p.opt.Output}, unseen{})
	r := res.Request
	r.ID, r.RequestedIn, r.RequestedOut = p.count, p.opt.Input, p.opt.Output
	if r.Class == measure.OK && r.InTokens > 0 {
		p.ask = max(1, p.ask-(r.InTokens-p.opt.Input))
	}
	return r
}

// fewestWords keeps every prompt new, however long the server's chat template is.
const fewestWords = 4

// text is a prompt of words that are drawn anew: no cache has an answer to it.
func (p *Prober) text() string {
	words := prompt.NewSynthetic(prompt.Unique, p.random.Uint64())
	for ask := p.ask; ; ask++ {
		if text := words.Next(ask).Text; strings.Count(text, " ") >= fewestWords-1 {
			return text
		}
	}
}

// connect finds the model, and with it which fields the engine takes.
func (p *Prober) connect(ctx context.Context) *scrape.ListError {
	id, err := p.identify(ctx)
	if err != nil {
		return err
	}
	client, failed := api.NewClient(api.Options{
		Address: p.addr, Kind: p.addr.Kind, Model: id.Model, Engine: id.Kind, APIKey: p.opt.APIKey, Header: p.opt.Header,
		TLS: p.opt.TLS, Idle: p.opt.Idle, Epoch: p.epoch, Dial: p.opt.Dial,
	})
	if failed != nil {
		return &scrape.ListError{Class: measure.Connect, Says: failed.Error()}
	}
	p.client, p.model, p.dialed = client, id.Model, time.Now()
	return nil
}

// identify asks for the model list. A gateway that has none, or does not show it, is no
// obstacle if the model was named.
func (p *Prober) identify(ctx context.Context) (engine.Identity, *scrape.ListError) {
	header := make(http.Header)
	api.SetCredentials(header, p.opt.APIKey, p.addr.User, p.opt.Header)
	base := *p.addr.Base
	base.RawQuery = ""
	transport := wire.NewTransport(p.opt.TLS, p.opt.Dial)
	defer transport.CloseIdleConnections()
	id, err := scrape.Detect(ctx, scrape.Config{
		Base: strings.TrimRight(base.String(), "/"), Query: p.addr.Base.RawQuery, MetricsURL: "off", Model: p.opt.Model,
		Client: &http.Client{Transport: transport}, Header: header, KeyFrom: p.opt.KeyFrom,
	})
	var list *scrape.ListError
	switch {
	case err == nil && id.Model == "":
		return id, &scrape.ListError{Class: measure.BadReply, Says: "the server lists no model: name one with --model"}
	case err == nil:
		return id, nil
	case !errors.As(err, &list):
		return id, &scrape.ListError{Class: measure.BadReply, Says: err.Error()}
	case ctx.Err() != nil:
		return id, &scrape.ListError{Class: measure.Cancelled, Says: list.Says}
	}
	switch list.Class {
	case measure.Connect, measure.TLS, measure.Cancelled, measure.Timeout, measure.Loading:
		return id, list
	}
	if p.opt.Model == "" {
		return id, &scrape.ListError{Class: list.Class, Status: list.Status, Says: fmt.Sprintf("%s (without a model list, add --model NAME)", list.Says)}
	}
	return engine.Identity{Model: p.opt.Model}, nil
}

// Close ends the connection. The next probe would look for the model anew.
func (p *Prober) Close() {
	if p.client != nil {
		p.client.Close()
		p.client = nil
	}
}

// unseen watches a request of which only the end matters.
type unseen struct{}

func (unseen) Sent(time.Duration)                      {}
func (unseen) Token(time.Duration, time.Duration, int) {}
