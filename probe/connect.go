package probe

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/probe/api"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/load"
)

// Connect finds the model and the engine, then begins the load that was asked
// for and the reading of engine and GPU. Its errors are one clear sentence.
func (s *Session) Connect(ctx context.Context) error {
	found := s.engineConfig()
	id, err := s.identify(ctx, found)
	if err != nil {
		return err
	}
	client, err := api.NewClient(api.Options{
		Address: s.addr, Kind: s.addr.Kind, Model: id.Model, Engine: id.Kind,
		APIKey: s.opt.APIKey, Header: s.opt.Header, TLS: s.opt.TLS, Idle: s.opt.Idle, Epoch: s.epoch,
		Dial: s.opt.Dial,
	})
	if err != nil {
		return fmt.Errorf("the proxy settings of the environment cannot be used: %w", err)
	}
	pool := load.New(load.Options{
		Doer: client, Prompts: s.opt.Prompts, NewTrack: s.collector.NewTrack,
		Epoch: s.epoch, Seed: s.opt.Seed, Fail: s.Fail,
	})
	from, err := s.openSources(found, id)
	if err != nil {
		return err
	}
	guard.Go("engine metrics", s.Fail, func() { from.engine.Run(ctx) })
	guard.Go("GPU readings", s.Fail, func() { from.gpu.Run(ctx) })
	s.askModel(ctx, found, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return context.Canceled
	}
	s.client, s.pool, s.engine, s.gpu = client, pool, from.engine, from.gpu
	s.enter(frame.StageLoad)
	return nil
}

// Begin puts the load of the Options on, but for what the operator has asked for
// meanwhile.
func (s *Session) Begin() {
	s.mu.Lock()
	l, asked := s.wish, s.loadAsked
	s.mu.Unlock()
	if !asked {
		l.Concurrency, l.Rate = s.opt.Load.Concurrency, s.opt.Load.Rate
	}
	s.apply(l, "")
}

// noteWish remembers that the operator has chosen a load, and not only lengths.
func (s *Session) noteWish(load bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loadAsked = s.loadAsked || load
}

func (s *Session) engineConfig() engine.Config {
	header := make(http.Header)
	api.SetCredentials(header, s.opt.APIKey, s.addr.User, s.opt.Header)
	keyFrom := s.opt.KeyFrom
	if s.opt.Header.Get("Authorization") != "" { // the user's own header wins
		keyFrom = ""
	}
	return engine.Config{
		KeyFrom: keyFrom,
		Base:    withoutQuery(s.addr), MetricsURL: s.metricsPage(), Model: s.opt.Model,
		Client: s.httpClient(), Header: header, Query: s.addr.Base.RawQuery, Interval: time.Second,
	}
}

func (s *Session) gpuOptions(id engine.Identity) gpu.Options {
	return gpu.Options{
		Mode: s.opt.GPU, TargetHost: s.addr.Base.Hostname(), Local: api.IsLocal(s.addr.Base),
		EngineGPUURL: id.GPUURL, Client: s.httpClient(), Interval: time.Second,
	}
}

// httpClient is for everything that is not measured: model list, metrics.
func (s *Session) httpClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = s.opt.TLS
	if s.opt.Dial != nil {
		transport.DialContext = s.opt.Dial
	}
	return &http.Client{Transport: transport}
}

func withoutQuery(a api.Address) string {
	u := *a.Base
	u.RawQuery = ""
	return strings.TrimRight(u.String(), "/")
}

func (s *Session) target() frame.Target {
	t := frame.Target{Started: s.started, Host: s.addr.Base.Host, Embedded: s.opt.Embedded, Seed: s.opt.Seed, Told: s.modelTold()}
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client != nil {
		t.URL, t.Notes = client.URL(), client.Notes()
	}
	return t
}

// stamps names the source of arrival stamps: "kernel" or "read".
func (s *Session) stamps() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return "read"
	}
	return s.client.Stamps()
}

// readSources puts the newest words of engine and GPU into the Frame.
func (s *Session) readSources(f *frame.Frame) {
	s.mu.Lock()
	client, eng, hw := s.client, s.engine, s.gpu
	s.mu.Unlock()
	if client == nil {
		f.Engine.Why, f.GPU.Why = "connecting", "connecting"
		return
	}
	f.Engine, f.GPU = eng.Latest(), hw.Latest()
	placeGPUs(f)
}
