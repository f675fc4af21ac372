package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"sonde/probe/api"
	"sonde/probe/collect"
	"sonde/probe/doctor/truth"
	"sonde/probe/load"
	"sonde/probe/opt"
	"sonde/probe/process"
)

// round is a demand with the amount of work in it.
type round struct {
	demand
	requests int
	tokens   int // of each answer
}

// observed is what both sides saw of a round.
type observed struct {
	gap       time.Duration // between the tokens of one stream
	client    map[int]*arrival
	server    []truth.Record
	stamps    string        // "kernel" or "read": source of the client's stamps
	steady    spell         // while every stream was running
	serverCPU time.Duration // of the whole round; 0 if unknown
}

// spell is what the client used over a stretch of time.
type spell struct {
	lasted time.Duration
	cpu    opt.Float // seconds of processor time
	tokens int
}

// rig is the scripted server with the program's own client and pool on it.
type rig struct {
	server *truth.Remote
	epoch  time.Time
}

const (
	readEvery = 250 * time.Millisecond // as a Session does
	patience  = 10 * time.Second       // for a round, beyond what it takes by its schedule
)

// run makes the requests of a round and waits until all have ended.
func (g rig) run(ctx context.Context, r round) (observed, error) {
	if err := g.server.Begin(truth.Round{Streams: r.streams, Gap: r.gap(), InSteps: r.inSteps}); err != nil {
		return observed{}, err
	}
	client, err := g.client(r.tls)
	if err != nil {
		return observed{}, err
	}
	defer client.Close()
	rec := &recorder{client: client, seen: make(map[int]*arrival, r.requests)}
	steady, err := g.load(ctx, r, rec)
	if err != nil {
		return observed{}, err
	}
	report, err := g.server.Report()
	if err != nil {
		return observed{}, err
	}
	return observed{
		gap: r.gap(), client: rec.arrivals(), server: report.Records, stamps: client.Stamps(), steady: steady,
		serverCPU: time.Duration(report.CPUNS),
	}, nil
}

func (g rig) client(secured bool) (*api.Client, error) {
	url, config := "http://"+g.server.Addr, (*tls.Config)(nil)
	if secured {
		url, config = "https://"+g.server.TLSAddr, &tls.Config{RootCAs: g.server.Roots}
	}
	addr, err := api.ParseAddress(url, api.Chat)
	if err != nil {
		return nil, err
	}
	return api.NewClient(api.Options{Address: addr, Kind: api.Chat, Model: "truth", TLS: config, Idle: patience, Epoch: g.epoch})
}

// load puts the round on, as a Session would, and tells what the time cost in
// which all streams were running.
func (g rig) load(ctx context.Context, r round, rec *recorder) (spell, error) {
	collector := collect.NewCollector(func() int { return 0 })
	broken := make(chan error, 1)
	pool := load.New(load.Options{
		Doer: rec, Prompts: &numbered{}, NewTrack: collector.NewTrack, Epoch: g.epoch, Seed: 1,
		Fail: func(err error) {
			select {
			case broken <- err:
			default:
			}
		},
	})
	defer pool.Close()
	pool.SetBudget(r.requests)
	pool.Set(load.Setting{Concurrency: r.streams, InputTokens: 1, OutputTokens: r.tokens})
	answers := r.requests / r.streams * (r.tokens + 1)
	limit := time.NewTimer(time.Duration(answers)*r.gap() + patience)
	defer limit.Stop()
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	var meter meter
	for {
		select {
		case <-tick.C:
			collector.Tick(time.Since(g.epoch), false)
			begun, ended, tokens := rec.counts()
			if ended == r.requests {
				return meter.spell(), nil
			}
			if begun >= r.streams && ended <= r.requests-r.streams {
				meter.read(tokens)
			}
		case err := <-broken:
			return spell{}, err
		case <-limit.C:
			_, ended, _ := rec.counts()
			return spell{}, fmt.Errorf("%d streams %s: only %d of %d answers ended in time: this machine is too busy for a calibration", r.streams, r.pattern(), ended, r.requests)
		case <-ctx.Done():
			return spell{}, context.Cause(ctx)
		}
	}
}

// meter reads the processor time of this process again and again, and keeps the
// first and the newest reading.
type meter struct {
	from, to reading
	reads    int
}

type reading struct {
	at     time.Time
	cpu    time.Duration
	known  bool
	tokens int
}

func (m *meter) read(tokens int) {
	cpu, known := process.CPU()
	m.to = reading{time.Now(), cpu, known, tokens}
	if m.reads == 0 {
		m.from = m.to
	}
	m.reads++
}

func (m *meter) spell() spell {
	s := spell{lasted: m.to.at.Sub(m.from.at), tokens: m.to.tokens - m.from.tokens}
	if m.from.known && m.to.known && s.lasted > 0 {
		s.cpu = opt.Of((m.to.cpu - m.from.cpu).Seconds())
	}
	return s
}
