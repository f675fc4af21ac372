package doctor

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sonde/probe/api"
	"sonde/probe/load"
	"sonde/probe/measure"
	"sonde/probe/prompt"
)

// numbered hands out request numbers as prompts, from 0, so that the server's
// record of a request can be found again.
type numbered struct {
	mu   sync.Mutex
	next int
}

func (n *numbered) Next(int) prompt.Prompt {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := strconv.Itoa(n.next)
	n.next++
	return prompt.Prompt{Text: text}
}

func (*numbered) Learn(prompt.Prompt, int) {}

// arrival is what the client saw of one request.
type arrival struct {
	class measure.Class
	says  string
	start time.Duration   // t0
	at    []time.Duration // of each token
	late  []float32       // ms, of each read behind its stamp
}

// recorder stands between the pool and the client, and keeps every arrival; what
// it is told goes on to the stream's track as usual.
type recorder struct {
	client load.Doer

	tokens atomic.Int64

	mu    sync.Mutex
	begun int
	ended int
	seen  map[int]*arrival
}

func (r *recorder) Do(ctx context.Context, call api.Call, obs api.Observer) api.Result {
	number, _ := strconv.Atoi(call.Text) // numbered wrote it
	o := &observer{track: obs, tokens: &r.tokens, arrival: &arrival{
		at: make([]time.Duration, 0, call.MaxTokens), late: make([]float32, 0, call.MaxTokens),
	}}
	r.mu.Lock()
	r.begun++
	r.mu.Unlock()
	res := r.client.Do(ctx, call, o)
	o.arrival.class, o.arrival.says, o.arrival.start = res.Class, res.Error, res.Start
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended++
	r.seen[number] = o.arrival
	return res
}

// counts are how many requests have begun and ended, and the tokens so far.
func (r *recorder) counts() (begun, ended, tokens int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun, r.ended, int(r.tokens.Load())
}

// arrivals hands over everything; the round is over.
func (r *recorder) arrivals() map[int]*arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// observer sees one request. It belongs to the request's goroutine.
type observer struct {
	track   api.Observer
	arrival *arrival
	tokens  *atomic.Int64 // of all requests
}

func (o *observer) Sent(t0 time.Duration) {
	o.arrival.at, o.arrival.late = o.arrival.at[:0], o.arrival.late[:0]
	o.track.Sent(t0)
}

func (o *observer) Token(at, late time.Duration, tokens int) {
	o.arrival.at = append(o.arrival.at, at)
	o.arrival.late = append(o.arrival.late, float32(late.Seconds()*1000))
	o.track.Token(at, late, tokens)
	o.tokens.Add(1)
}
