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
	"sonde/probe/frame"
	"sonde/probe/load"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/process"
	"sonde/probe/prompt"
	"sonde/probe/units"
)

// Pattern is how the tokens of all streams are spread over time.
type Pattern string

// Patterns of a Round.
const (
	Spread Pattern = "spread"
	Steps  Pattern = "steps"
)

// Round is one load on the scripted server.
type Round struct {
	Streams    int     `json:"streams"`
	TokensPerS float64 `json:"tokens_per_s"` // requested, of all streams together
	Pattern    Pattern `json:"pattern"`
	TLS        bool    `json:"tls"`

	requests int
	tokens   int // of each answer
}

// gap is the time between the tokens of one stream.
func (r Round) gap() time.Duration {
	return time.Duration(float64(time.Second) * float64(r.Streams) / r.TokensPerS)
}

// String describes the load.
func (r Round) String() string {
	return units.WholeCommas(float64(r.Streams)) + " streams " + r.timing()
}

func (r Round) timing() string {
	text := "spread"
	if r.Pattern == Steps {
		text = "in steps"
	}
	if r.TLS {
		text += ", TLS"
	}
	return text
}

// observed is what both sides saw of a round.
type observed struct {
	client    map[int]*arrival
	problem   string // why a request failed
	server    []truth.Record
	serverCPU time.Duration // of the whole round; 0 if unknown
	stamps    string        // "kernel" or "read": source of the client's stamps

	// While every stream was running:
	since     time.Time
	cpuBefore time.Duration
	lasted    time.Duration
	tokens    int
	cpu       opt.Float // seconds of processor time of the client
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
func (g rig) run(ctx context.Context, r Round) (observed, error) {
	var o observed
	url, config := "http://"+g.server.HTTP, (*tls.Config)(nil)
	if r.TLS {
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

// load puts the round on, as a Session would. A request on each stream comes before it and is
// not measured: while hundreds of TLS handshakes take the processor from both sides at once,
// one read brings several tokens.
func (g rig) load(ctx context.Context, r Round, o *observed, client load.Doer) error {
	answers := r.requests/r.Streams*(r.tokens+1) + 2
	tooBusy := fmt.Errorf("%s: not all of %d answers ended in time: this machine is too busy for a calibration", r, r.requests)
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(answers)*r.gap()+patience, tooBusy)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	rec := &recorder{client: client, seen: map[int]*arrival{}}
	collector := collect.NewCollector(func() (int, time.Duration) { return 0, 0 })
	pool := load.New(load.Options{Doer: rec, Prompts: rec, NewTrack: collector.NewTrack, Epoch: g.epoch, Seed: 1, Fail: fail})
	defer pool.Close()
	begin := func(requests, tokens int) error {
		_, err := g.server.Next(truth.Round{Streams: r.Streams, Gap: r.gap(), InSteps: r.Pattern == Steps})
		pool.Set(frame.Load{Concurrency: r.Streams, InputTokens: 1, OutputTokens: tokens})
		pool.SetBudget(requests)
		return err
	}
	pool.SetBudget(0)
	if err := begin(r.Streams, 1); err != nil {
		return err
	}
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for connected := false; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		c := collector.Tick(time.Since(g.epoch), false).Client
		ended := c.OK + c.Failed - r.Streams
		switch {
		case ended == 0 && !connected:
			connected, o.client = true, rec.measure()
			if err := begin(r.requests, r.tokens); err != nil {
				return err
			}
		case ended == r.requests:
			o.problem = c.LastError
			return nil
		case connected && c.Sent >= 2*r.Streams && ended <= r.requests-r.Streams:
			o.running(c.SliceOutTokens)
		}
	}
}

// running notes a tick at which every stream was running.
func (o *observed) running(tokens int) {
	cpu, known := process.CPU()
	if o.since.IsZero() {
		o.since, o.cpuBefore = time.Now(), cpu
		return
	}
	o.lasted, o.tokens = time.Since(o.since), o.tokens+tokens
	o.cpu = opt.Float{V: (cpu - o.cpuBefore).Seconds(), OK: known}
}

// recorder stands between the pool and the client. It numbers the requests, so
// that the server's records of them can be found again, and keeps every arrival.
type recorder struct {
	client load.Doer
	begun  atomic.Int64

	mu   sync.Mutex
	seen map[int]*arrival // of requests that ended
}

// measure forgets the requests so far; those from now on are in the map that it returns.
func (r *recorder) measure() map[int]*arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = map[int]*arrival{}
	return r.seen
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
