// Package collect gathers what the streams see, as it happens, into live windows, the
// present level and the client's part of each Frame.
package collect

import (
	"maps"
	"slices"
	"sync"
	"time"

	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Collector gathers what the tracks saw into figures for a slice of time, the
// live window and the current level. Tick and the setters belong to one
// goroutine, the Session's; only NewTrack may be called from others.
type Collector struct {
	mu     sync.Mutex // guards tracks
	tracks []*Track

	window time.Duration
	lats   struct{ ttft, ttfa, tpot, gap, e2e, setup, late *Window }
	flow   flow
	totals struct { // since the start or the last reset
		measure.Counts
		lastError string
	}
	level level

	lastTick time.Duration
	gaps     []float32 // of the slice that closes; its memory serves again
	retrying func() (n int, next time.Duration)
	remote   Remote // nil: none
}

// DefaultWindow is the live window at the start.
const DefaultWindow = 30 * time.Second

// NewCollector makes an empty collector. retrying reports how many streams wait
// because the server refused them.
func NewCollector(retrying func() (n int, next time.Duration)) *Collector {
	c := &Collector{window: DefaultWindow, retrying: retrying}
	c.Reset(0)
	return c
}

// NewTrack adds a stream slot. Slots count from 0.
func (c *Collector) NewTrack() *Track {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &Track{slot: len(c.tracks)}
	c.tracks = append(c.tracks, t)
	return t
}

// SetWindow chooses the length of the live window.
func (c *Collector) SetWindow(d time.Duration) { c.window = min(max(d, time.Second), MaxWindow) }

// Reset empties windows, totals and the current level's numbers, at the given
// instant.
func (c *Collector) Reset(now time.Duration) {
	for _, w := range []**Window{&c.lats.ttft, &c.lats.ttfa, &c.lats.tpot, &c.lats.gap, &c.lats.e2e, &c.lats.setup, &c.lats.late} {
		*w = NewWindow()
	}
	c.flow = flow{from: now}
	c.totals.Counts, c.totals.lastError = measure.Counts{}, ""
	c.level.reset(now)
}

// Tick is what one tick yields.
type Tick struct {
	Client   measure.Client
	Cells    []measure.StreamCell
	Requests []measure.Request
	LateMS   measure.Summary // our reads behind the arrival stamps, live window
	Chunks   int             // token-bearing chunks of the slice
	// CoalescedShare is the share of chunks in the live window that share their
	// stamp with the chunk before.
	CoalescedShare float64
	Level          int
	Settled        bool
}

// Tick closes the slice that ends now. If stopped, our own process did not run
// for a while within it: samples of the slice are about us and are dropped, and
// requests that were alive are excluded.
func (c *Collector) Tick(now time.Duration, stopped bool) Tick {
	s := slice{from: c.lastTick, to: now, stopped: stopped}
	c.gaps = c.gaps[:0]
	c.lastTick = now
	c.mu.Lock()
	tracks := c.tracks
	c.mu.Unlock()
	out := Tick{Cells: make([]measure.StreamCell, 0, len(tracks))}
	for _, t := range tracks {
		p, live := t.take(stopped)
		if cell, ok := s.cell(t.slot, &p, &live); ok {
			out.Cells = append(out.Cells, cell)
		}
		c.absorb(&s, &p, &live)
	}
	c.absorbRemote(&out, &s)
	if stopped {
		c.flow.skip(now)
	} else {
		c.flow.add(now, s.flowSlot)
	}
	lasts := c.lasts(now)
	window := c.level.window(lasts)
	c.level.tick(now, s.flowSlot.inFlight+s.thinking, c.flow.sum(now, window), c.flow.sum(now-window, window), lasts)
	c.fill(&out, &s, now)
	return out
}

// lasts is how long a request takes, by the mean of the live window.
func (c *Collector) lasts(now time.Duration) time.Duration {
	return time.Duration(c.lats.e2e.Summary(now, c.window).Mean * float64(time.Millisecond))
}

// absorb takes what a track gathered into the slice and the windows.
func (c *Collector) absorb(s *slice, p *pending, live *liveRequest) {
	s.watch(live)
	s.flowSlot.out += p.tokens
	s.flowSlot.in += p.prompts
	s.flowSlot.coalesced += p.coalesced
	s.flowSlot.chunks += len(p.late)
	if !s.stopped {
		c.absorbSamples(s, p)
	}
	for i := range p.ended {
		c.ended(s, &p.ended[i])
	}
}

func (c *Collector) absorbSamples(s *slice, p *pending) {
	for _, ms := range p.ttft {
		c.lats.ttft.Add(s.to, ms)
	}
	s.ttft = append(s.ttft, p.ttft...)
	for _, ms := range p.gaps {
		c.lats.gap.Add(s.to, float64(ms))
	}
	c.gaps = append(c.gaps, p.gaps...)
	for _, ms := range p.late {
		c.lats.late.Add(s.to, float64(ms))
	}
}

// ended counts a request that ended and files its latencies.
func (c *Collector) ended(s *slice, r *measure.Request) {
	r.Excluded = r.Excluded || s.stopped
	if r.Excluded && (r.Class == measure.Timeout || r.Class == measure.ConnectionLost) {
		r.Class = measure.Cancelled // we did not listen: no failure of the server's
	}
	r.Level = c.level.of(r)
	s.requests = append(s.requests, *r)
	s.flowSlot.busy += overlap(r.Start, r.End, s.from, s.to)
	if r.Long {
		return
	}
	c.totals.Add(r)
	if r.Class.Failed() || r.Class == measure.Loading {
		c.totals.lastError = string(r.Class) + ": " + r.Error
	}
	s.flowSlot.ended(r)
	if r.Class != measure.OK || r.Excluded {
		return
	}
	c.lats.setup.Add(s.to, measure.MS(r.Setup))
	if ms, ok := r.TPOT(); ok {
		c.lats.tpot.Add(s.to, ms)
		s.tpot = append(s.tpot, ms)
	}
	if ms, ok := r.TTFA(); ok {
		c.lats.ttfa.Add(s.to, ms)
	}
	if ms, ok := r.E2E(); ok {
		c.lats.e2e.Add(s.to, ms)
	}
	c.level.add(r)
}

// fill computes the figures that a Frame carries.
func (c *Collector) fill(out *Tick, s *slice, now time.Duration) {
	sum := c.flow.sum(now, c.window)
	seconds := sum.length.Seconds()
	lat := func(w *Window) measure.Summary { return w.Summary(now, c.window) }
	counts := c.totals.Counts
	counts.Sent += s.flowSlot.inFlight
	counts.ByClass = maps.Clone(counts.ByClass)
	out.Client = measure.Client{
		InFlight: s.flowSlot.inFlight, Thinking: s.thinking, Prefill: s.prefill, OldestWaiting: s.oldest,
		Counts: counts, LastError: c.totals.lastError,
		Window: c.window,
		TTFT:   lat(c.lats.ttft), TTFA: lat(c.lats.ttfa), TPOT: lat(c.lats.tpot), Gap: lat(c.lats.gap), E2E: lat(c.lats.e2e), Setup: lat(c.lats.setup),
		SliceTTFT: s.ttft, SliceTPOT: s.tpot,
		SliceInTokens: s.flowSlot.in, SliceOutTokens: s.flowSlot.out, SliceRequests: s.flowSlot.ok,
		Level: c.level.stats(now),
	}
	out.Client.Retrying, out.Client.RetryAt = c.retrying()
	out.Client.SliceGaps, out.Client.SliceGapCounts = measure.CompactGaps(c.gaps)
	sum.setRates(&out.Client, seconds)
	out.Cells = slices.Clip(out.Cells)
	out.Requests = s.requests
	out.LateMS = lat(c.lats.late)
	out.Chunks = s.flowSlot.chunks
	if sum.chunks > 0 {
		out.CoalescedShare = float64(sum.coalesced) / float64(sum.chunks)
	}
	out.Level, out.Settled = c.level.number, c.level.settled
}

func (sum *flowSlot) setRates(cl *measure.Client, seconds float64) {
	if seconds <= 0 {
		return
	}
	cl.RequestsPerS = float64(sum.ok) / seconds
	cl.OutTokensPerS = float64(sum.out) / seconds
	cl.InTokensPerS = float64(sum.in) / seconds
	cl.ConcurrencyMean = opt.Of(sum.busy.Seconds() / seconds)
	if counted := sum.ok - sum.estimated; counted > 0 && sum.okIn > 0 {
		cl.InputTokens = opt.Of(float64(sum.okIn) / float64(counted))
	}
	if sum.ok > 0 {
		cl.OutputTokens = opt.Of(float64(sum.okOut) / float64(sum.ok))
		cl.TokensEstimated = sum.estimated > 0
	}
	if sum.okIn > 0 {
		cl.CachedShare = opt.Of(float64(sum.okCached) / float64(sum.okIn))
	}
	if sum.okChunks > 0 {
		cl.TokensPerChunk = opt.Of(float64(sum.okOut) / float64(sum.okChunks))
	}
	if expected := cl.RequestsPerS * cl.E2E.Mean / 1000; cl.E2E.N > 0 && expected > 0 {
		cl.Little = opt.Of(cl.ConcurrencyMean.V / expected)
	}
}
