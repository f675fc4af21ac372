package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sonde/probe/api"
	"sonde/probe/collect"
	"sonde/probe/doctor/truth"
	"sonde/probe/load"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/process"
	"sonde/probe/prompt"
	"sonde/probe/units"
)

// round is one load on the scripted server.
type round struct {
	streams   int
	perSecond float64 // tokens of one stream
	inSteps   bool
	tls       bool
	requests  int
	tokens    int // of each answer
}

// String describes the load, and how the tokens of all streams are spread over time.
func (r round) String() string {
	return units.WholeCommas(float64(r.streams)) + " streams " + pattern(r.inSteps, r.tls)
}

func pattern(inSteps, tls bool) string {
	text := "spread"
	if inSteps {
		text = "in steps"
	}
	if tls {
		text += ", TLS"
	}
	return text
}

// observed is what both sides saw of a round.
type observed struct {
	gap       time.Duration // between the tokens of one stream
	client    map[int]*arrival
	problem   string // why a request failed
	server    []truth.Record
	stamps    string        // "kernel" or "read": source of the client's stamps
	steady    spent         // while every stream was running
	serverCPU time.Duration // of the whole round; 0 if unknown
}

// spent is what the client used over a stretch of time, or since it began.
type spent struct {
	lasted time.Duration
	cpu    opt.Float // seconds of processor time
	tokens int
}

func (s spent) since(from spent) spent {
	s.lasted, s.tokens, s.cpu.V = s.lasted-from.lasted, s.tokens-from.tokens, s.cpu.V-from.cpu.V
	s.cpu.OK = s.cpu.OK && s.lasted > 0
	return s
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
	o := observed{gap: time.Duration(float64(time.Second) / r.perSecond), client: make(map[int]*arrival, r.requests)}
	if _, err := g.server.Next(truth.Round{Streams: r.streams, Gap: o.gap, InSteps: r.inSteps}); err != nil {
		return o, err
	}
	url, config := "http://"+g.server.HTTP, (*tls.Config)(nil)
	if r.tls {
		url, config = "https://"+g.server.HTTPS, &tls.Config{InsecureSkipVerify: true} // our own child process
	}
	addr, err := api.ParseAddress(url, api.Chat)
	if err != nil {
		return o, err
	}
	client, err := api.NewClient(api.Options{Address: addr, Kind: api.Chat, Model: "truth", TLS: config, Idle: patience, Epoch: g.epoch})
	if err != nil {
		return o, err
	}
	defer client.Close()
	if err := g.load(ctx, r, &o, client); err != nil {
		return o, err
	}
	o.stamps = client.Stamps()
	report, err := g.server.Next(truth.Round{})
	o.server, o.serverCPU = report.Records, time.Duration(report.CPUNS)
	return o, err
}

// load puts the round on, as a Session would, and notes what was used while all
// streams were running.
func (g rig) load(ctx context.Context, r round, o *observed, client load.Doer) error {
	answers := r.requests / r.streams * (r.tokens + 1)
	tooBusy := fmt.Errorf("%s: not all of %d answers ended in time: this machine is too busy for a calibration", r, r.requests)
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(answers)*o.gap+patience, tooBusy)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	rec := &recorder{client: client, seen: o.client}
	collector := collect.NewCollector(func() (int, time.Duration) { return 0, 0 })
	pool := load.New(load.Options{Doer: rec, Prompts: rec, NewTrack: collector.NewTrack, Epoch: g.epoch, Seed: 1, Fail: fail})
	defer pool.Close()
	pool.SetBudget(r.requests)
	pool.Set(load.Setting{Concurrency: r.streams, InputTokens: 1, OutputTokens: r.tokens})
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	var now, first spent
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		now.lasted = time.Since(g.epoch)
		c := collector.Tick(now.lasted, false).Client
		now.tokens += c.SliceOutTokens
		ended := c.OK + c.Failed
		if ended == r.requests {
			o.problem = c.LastError
			return nil
		}
		if c.Sent >= r.streams && ended <= r.requests-r.streams {
			cpu, known := process.CPU()
			now.cpu = opt.Float{V: cpu.Seconds(), OK: known}
			if first.lasted == 0 {
				first = now
			}
			o.steady = now.since(first)
		}
	}
}

// recorder stands between the pool and the client. It numbers the requests, so
// that the server's records of them can be found again, and keeps every arrival.
type recorder struct {
	client load.Doer
	begun  atomic.Int64

	mu   sync.Mutex
	seen map[int]*arrival // of requests that ended
}

// Next returns the number of the request as its prompt, from 0.
func (r *recorder) Next(int) prompt.Prompt {
	return prompt.Prompt{Text: strconv.Itoa(int(r.begun.Add(1) - 1))}
}

// Learn does nothing: the length of these prompts does not matter.
func (*recorder) Learn(prompt.Prompt, int) {}

// Do makes a request.
func (r *recorder) Do(ctx context.Context, call api.Call, track api.Observer) api.Result {
	number, _ := strconv.Atoi(call.Text) // written by Next
	a := &arrival{Observer: track, at: make([]time.Duration, 0, call.MaxTokens), late: make([]float32, 0, call.MaxTokens)}
	res := r.client.Do(ctx, call, a)
	if a.start = res.Start; res.Class != measure.OK {
		a.at = nil
	}
	r.mu.Lock()
	r.seen[number] = a
	r.mu.Unlock()
	return res
}

// arrival is what the client saw of one request. It observes the request, and
// passes everything on to the stream's track as usual.
type arrival struct {
	api.Observer
	start time.Duration   // t0
	at    []time.Duration // of each token; none if the request failed
	late  []float32       // ms, of each read behind its stamp
}

// Sent begins the request, again if it is repeated.
func (a *arrival) Sent(t0 time.Duration) {
	a.at, a.late = a.at[:0], a.late[:0]
	a.Observer.Sent(t0)
}

// Token keeps the arrival of a token.
func (a *arrival) Token(at, late time.Duration, tokens int) {
	a.at = append(a.at, at)
	a.late = append(a.late, float32(late.Seconds()*1000))
	a.Observer.Token(at, late, tokens)
}
