package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"sonde/gpu"
	"sonde/gpu/watch"
	"sonde/probe/api"
	"sonde/probe/api/wire"
	"sonde/probe/engine"
	"sonde/probe/engine/scrape"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/measure"
	"sonde/probe/prom"
	"sonde/probe/roofline"
)

// connected makes the requests of the load, which begins when there is a connection.
type connected struct{ *commands }

func (c connected) Do(ctx context.Context, call api.Call, obs api.Observer) api.Result {
	return c.conn.Load().client.Do(ctx, call, obs)
}

// promptRoom is that of the model that answers.
func (c *commands) promptRoom(output int) (tokens int, known bool) {
	conn := c.conn.Load()
	if conn == nil {
		return 0, false
	}
	return promptRoom(conn.engine.Latest().Identity, output)
}

// connection is what Connect has made: complete, and never changed.
type connection struct {
	client *api.Client
	engine engineSource
	gpu    *watch.Watcher
}

// engineSource reads what the engine reports.
type engineSource interface {
	Run(ctx context.Context)
	Latest() engine.Status // never waits
	SetModel(name string)
	SetReplica(name string)
}

// Connect finds the model and the engine, and starts to read engine and GPU; the load
// starts with Begin. Its errors are one clear sentence.
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
		return err
	}
	conn := &connection{client: client}
	s.noteModel(id)
	if err := s.openSources(conn, found, id); err != nil {
		return err
	}
	guard.Go("engine metrics", s.Fail, func() { conn.engine.Run(ctx) })
	guard.Go("GPU readings", s.Fail, func() { conn.gpu.Run(ctx) })
	if s.opt.Roofline == nil { // else named by hand
		s.model.ask(ctx, s.Fail, found, id)
	}
	s.conn.Store(conn)
	s.enter(frame.StageLoad)
	return nil
}

// FromPrometheus is the source of engine metrics or GPU readings that stands for
// the Prometheus server of the Options.
const FromPrometheus = "prometheus"

// openSources prepares the reading of engine and GPU, each from its own address or
// from Prometheus.
func (s *Session) openSources(conn *connection, found scrape.Config, id engine.Identity) error {
	var server *prom.Server
	if s.opt.Metrics == FromPrometheus || s.opt.GPU == FromPrometheus {
		var err error
		if server, err = prom.NewServer(s.opt.Prometheus, s.httpClient()); err != nil {
			return err
		}
	}
	if s.opt.Metrics == FromPrometheus {
		conn.engine = scrape.NewPrometheusSource(server, s.opt.Selector, id)
	} else {
		conn.engine = scrape.NewSource(found, id)
	}
	if s.opt.GPU == FromPrometheus {
		conn.gpu = watch.OpenPrometheus(server, s.opt.Selector, time.Second)
	} else {
		conn.gpu = watch.Open(watch.Options{
			Mode: s.opt.GPU, TargetHost: s.addr.Base.Hostname(), Local: api.IsLocal(s.addr.Base),
			EngineGPUURL: id.GPUURL, Client: s.httpClient(), Interval: time.Second,
		})
	}
	return nil
}

// loadingWait is the time between two looks at a server that loads its model.
const loadingWait = time.Second

// identify finds out which engine answers and which model to request. While the
// server loads its model it waits. A gateway that has no model list, or does not
// show it, is no obstacle if the model was named.
func (s *Session) identify(ctx context.Context, c scrape.Config) (engine.Identity, error) {
	for waits := 0; ; waits++ {
		id, err := scrape.Detect(ctx, c)
		var list *scrape.ListError
		if err == nil || !errors.As(err, &list) {
			return id, err
		}
		switch class := list.Class; {
		case class == measure.Connect || class == measure.TLS || class == measure.Cancelled:
			return id, err
		case s.opt.Model != "":
			s.Note(list.Says + ": continuing with the model that was named")
			id.Model = s.opt.Model
			return id, nil
		case class == measure.HTTP5xx, class == measure.BadReply, list.Status == http.StatusNotFound:
			return id, fmt.Errorf("%w (without a model list, add --model NAME)", err)
		case class != measure.Loading:
			return id, err
		case waits == 0:
			s.enter(frame.StageLoading)
			s.Note("the server is loading its model: waiting for it")
		}
		if err := awaitLoading(ctx); err != nil {
			return id, err
		}
	}
}

// awaitLoading waits until it is time to look again at a server that loads its model.
func awaitLoading(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(loadingWait):
		return nil
	}
}

// noteModel says which of several models was chosen.
func (s *Session) noteModel(id engine.Identity) {
	n := len(id.Models)
	switch {
	case s.opt.Model != "" || id.Model == "":
	case id.NoChat:
		s.Note(fmt.Sprintf("requests name %s, but no model of the list (%d) seems to be one for chat: choose with --model", id.Model, n))
	case n > 1:
		s.Note(fmt.Sprintf("requests name %s, one of %d models: --model selects another", id.Model, n))
	}
}

func (s *Session) engineConfig() scrape.Config {
	header := make(http.Header)
	api.SetCredentials(header, s.opt.APIKey, s.addr.User, s.opt.Header)
	keyFrom, page := s.opt.KeyFrom, s.opt.Metrics
	if s.opt.Header.Get("Authorization") != "" { // the user's own header wins
		keyFrom = ""
	}
	if page == FromPrometheus {
		page = "off" // there is no page to look for
	}
	return scrape.Config{
		KeyFrom: keyFrom,
		Base:    withoutQuery(s.addr), MetricsURL: page, Model: s.opt.Model,
		Client: s.httpClient(), Header: header, Query: s.addr.Base.RawQuery, Interval: time.Second,
	}
}

// httpClient is for everything that is not measured: model list, metrics.
func (s *Session) httpClient() *http.Client {
	return &http.Client{Transport: wire.NewTransport(s.opt.TLS, s.opt.Dial)}
}

func withoutQuery(a api.Address) string {
	u := *a.Base
	u.RawQuery = ""
	return strings.TrimRight(u.String(), "/")
}

// modelShape is what the engine reports about the shape of its model, once it has.
type modelShape struct {
	known atomic.Pointer[roofline.ModelInfo]
}

// ask runs beside everything else: a slow answer delays nothing, and no answer leaves
// the shape to the model's name. It ends with ctx.
func (m *modelShape) ask(ctx context.Context, fail func(error), found scrape.Config, id engine.Identity) {
	guard.Go("shape of the model", fail, func() {
		shape := scrape.AskModel(ctx, found, id)
		m.known.Store(&shape)
	})
}

func (s *Session) target() frame.Target {
	t := frame.Target{Started: s.epoch, Host: s.addr.Base.Host, Embedded: s.opt.Embedded, Seed: s.opt.Seed}
	if shape := s.model.known.Load(); shape != nil {
		t.ModelInfo = *shape
	}
	if c := s.conn.Load(); c != nil {
		t.URL, t.Notes = c.client.URL(), c.client.Notes()
	}
	return t
}

// stamps names the source of arrival stamps: "kernel" or "read".
func (s *Session) stamps() string {
	if c := s.conn.Load(); c != nil {
		return c.client.Stamps()
	}
	return "read"
}

// readSources puts the newest readings of engine and GPU into the Frame.
func (s *Session) readSources(f *frame.Frame) {
	c := s.conn.Load()
	if c == nil {
		f.GPU.State = gpu.Connecting // the engine's is by default
		return
	}
	f.Engine, f.GPU = c.engine.Latest(), c.gpu.Latest()
	placeGPUs(f)
}
