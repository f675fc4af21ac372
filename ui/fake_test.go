package ui

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"sonde/gpu"
	"sonde/probe/diagnose"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// fakeSource plays a plausible server: streams that prefill, decode and end, a
// long prompt now and then, a load that changes. It is both Frames and Controls.
type fakeSource struct {
	mu      sync.Mutex
	random  *rand.Rand
	now     time.Duration
	seq     uint64
	frames  []*frame.Frame
	load    frame.Load
	level   int
	levelAt time.Duration
	streams []fakeStream
	events  []frame.Event
	long    time.Duration // a long prompt is in prefill until then
	window  []timedGap
	ttft    []timedSample
	tpot    []timedSample
	calls   []string // what the controls were asked for
	ok      int
	noGPU   bool
	noKV    bool
	gpus    int
	seconds int

	replicas       []engine.Replica
	onPage         []string
	replica, model string // as chosen
}

type fakeStream struct {
	on                bool
	waitUntil, endsAt time.Duration
	began             time.Duration
}

type timedGap struct {
	at time.Duration
	ms float32
}

type timedSample struct {
	at time.Duration
	ms float64
}

const fakeSlice = 250 * time.Millisecond

var fakeStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newFake(streams int) *fakeSource {
	return &fakeSource{
		random: rand.New(rand.NewPCG(1, 2)), level: 1, gpus: 1, seconds: 30,
		load: frame.Load{Concurrency: streams, InputTokens: 1024, OutputTokens: 256, Prefix: "unique"},
	}
}

// play advances by d and returns the source itself.
func (s *fakeSource) play(d time.Duration) *fakeSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	for end := s.now + d; s.now < end; {
		s.step()
	}
	return s
}

func (s *fakeSource) Since(seq uint64) []*frame.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearchFunc(s.frames, seq+1, func(f *frame.Frame, want uint64) int {
		return int(int64(f.Seq) - int64(want))
	})
	return slices.Clone(s.frames[at:])
}

// step closes one slice.
func (s *fakeSource) step() {
	s.now += fakeSlice
	s.seq++
	f := &frame.Frame{Seq: s.seq, At: s.now, Slice: fakeSlice}
	f.Target = frame.Target{Started: fakeStart, Host: "gpu-box:8000"}
	f.Events, s.events = s.events, nil
	busy := s.now < s.long
	base := 9 + 0.35*float64(s.load.Concurrency)
	for len(s.streams) < s.load.Concurrency {
		s.streams = append(s.streams, fakeStream{})
	}
	for i := range s.streams {
		s.stream(f, i, base, busy)
	}
	s.summarise(f, base, busy)
	if s.frames = append(s.frames, f); len(s.frames) > 64 && s.seq%64 == 0 {
		s.frames = slices.Clone(s.frames[len(s.frames)-64:])
	}
}

func (s *fakeSource) stream(f *frame.Frame, i int, base float64, busy bool) {
	st, c := &s.streams[i], &f.Client
	cell := measure.StreamCell{Slot: i}
	if !st.on && i < s.load.Concurrency {
		st.on, st.began = true, s.now
		st.waitUntil = s.now + time.Duration(120+s.random.ExpFloat64()*130)*time.Millisecond
		st.endsAt = st.waitUntil + time.Duration((150+s.random.Float64()*110)*base)*time.Millisecond
	}
	switch {
	case !st.on:
		return
	case s.now < st.waitUntil:
		cell.State = measure.StreamWaiting
		c.Prefill++
	default:
		cell.State = measure.StreamDecode
		if s.now-fakeSlice < st.waitUntil {
			ms := float64(st.waitUntil-st.began) / 1e6
			c.SliceTTFT = append(c.SliceTTFT, ms)
			s.ttft = append(s.ttft, timedSample{s.now, ms})
			c.SliceInTokens += 1031
		}
		cell.MaxGapMS = s.gaps(c, base, busy)
	}
	c.InFlight++
	if s.now >= st.endsAt {
		st.on, cell.Ended = false, true
		ms := base * (0.97 + 0.06*s.random.Float64())
		c.SliceTPOT = append(c.SliceTPOT, ms)
		s.tpot = append(s.tpot, timedSample{s.now, ms})
		s.ok++
		c.SliceRequests++
		gaps := make([]float32, 200)
		for k := range gaps {
			gaps[k] = float32(base * (1 + float64(k)/2000))
		}
		f.Requests = append(f.Requests, measure.Request{ID: uint64(s.ok), Slot: i, Level: s.level, Streamed: true, Chunks: 201, GapsMS: gaps})
	}
	f.Streams = append(f.Streams, cell)
}

func (s *fakeSource) gaps(c *measure.Client, base float64, busy bool) (most float64) {
	for left := 250.0; left > 0; {
		ms := base * (0.85 + 0.3*s.random.Float64())
		switch roll := s.random.Float64(); {
		case busy:
			ms *= 8 + 6*s.random.Float64()
		case roll < 0.02:
			ms *= 2 + 3*s.random.Float64()
		}
		left -= ms
		c.SliceGaps = append(c.SliceGaps, float32(ms))
		s.window = append(s.window, timedGap{s.now, float32(ms)})
		c.SliceOutTokens++
		most = math.Max(most, ms)
	}
	return most
}

func (s *fakeSource) summarise(f *frame.Frame, base float64, busy bool) {
	c := &f.Client
	since := s.now - time.Duration(s.seconds)*time.Second
	s.window = slices.DeleteFunc(s.window, func(g timedGap) bool { return g.at <= since })
	old := func(v timedSample) bool { return v.at <= since }
	s.ttft, s.tpot = slices.DeleteFunc(s.ttft, old), slices.DeleteFunc(s.tpot, old)
	c.Window = time.Duration(s.seconds) * time.Second
	gaps := make([]float64, len(s.window))
	for i, g := range s.window {
		gaps[i] = float64(g.ms)
	}
	c.Gap, c.TTFT, c.TPOT = summaryOf(gaps), summaryOf(values(s.ttft)), summaryOf(values(s.tpot))
	c.OK, c.Sent = s.ok, s.ok+c.InFlight
	c.OutTokensPerS = float64(len(s.window)) / float64(s.seconds)
	c.InTokensPerS = float64(len(s.ttft)*1031) / float64(s.seconds)
	c.RequestsPerS = float64(len(s.ttft)) / float64(s.seconds)
	c.InputTokens, c.OutputTokens = opt.Of(1031), opt.Of(256)
	c.TokensPerChunk, c.Little = opt.Of(1), opt.Of(1.01)
	c.ConcurrencyMean = opt.Of(float64(s.load.Concurrency) - 0.2)
	c.Level = frame.Frame{}.Client.Level
	c.Level.TTFT, c.Level.TPOT, c.Level.OutTokensPerS = c.TTFT, c.TPOT, c.OutTokensPerS
	f.Load.Requested, f.Load.Level, f.Load.Max = s.load, s.level, 256
	f.Load.Settled = s.now-s.levelAt > 8*time.Second
	f.Health.Stamps, f.Health.CPU, f.Health.LateMsP99 = "kernel", opt.Of(0.04), 0.03
	s.machine(f, busy)
}

func (s *fakeSource) machine(f *frame.Frame, busy bool) {
	wall := fakeStart.Add(s.now)
	f.Engine.Identity = engine.Identity{Kind: "vllm", Name: "vLLM", Version: "0.11.0", Model: "meta-llama/Llama-3.1-8B-Instruct"}
	if s.noKV {
		f.Engine.Why = "llama-server: start it with --metrics"
	} else {
		f.Engine.Have = true
		f.Engine.Reading = engine.Reading{At: wall, Running: opt.Of(float64(f.Client.InFlight - f.Client.Prefill)),
			Waiting: opt.Of(float64(f.Client.Prefill)), KVFill: opt.Of(0.45 + 0.2*math.Sin(s.now.Seconds()/20)), PrefixHitRate: opt.Of(0)}
	}
	f.Engine.Replicas, f.Engine.Reading.Replica, f.Engine.OnPage, f.Engine.Reading.Model = s.replicas, s.replica, s.onPage, s.model
	if s.noGPU {
		f.GPU.Why = "no NVML library and no exporter: start dcgm-exporter and give its address with --gpu"
		return
	}
	for i := range s.gpus {
		r := gpu.Reading{Index: i, Name: "NVIDIA H100 80GB HBM3", SM: opt.Of(0.9 + 0.07*s.random.Float64()),
			DRAM: opt.Of(0.66 + 0.08*s.random.Float64()), Power: opt.Of(600 + 20*s.random.Float64()), PowerLimit: opt.Of(700),
			MemUsed: opt.Of(70 << 30), MemTotal: opt.Of(80 << 30), Temperature: opt.Of(61), SMClock: opt.Of(1.98e9), Source: "nvml-gpm"}
		if busy {
			r.SM, r.DRAM = opt.Of(0.99), opt.Of(0.3)
		}
		f.GPU.GPUs = append(f.GPU.GPUs, r)
	}
	f.GPU.At, f.GPU.Source = wall, "nvml"
}

func values(of []timedSample) []float64 {
	out := make([]float64, len(of))
	for i, v := range of {
		out[i] = v.ms
	}
	return out
}

func summaryOf(samples []float64) measure.Summary {
	if len(samples) == 0 {
		return measure.Summary{}
	}
	d := measure.NewDist(len(samples))
	for _, v := range samples {
		d.Add(v)
	}
	return d.Summary()
}

// Controls.

func (s *fakeSource) Load() frame.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load
}

func (s *fakeSource) ChangeLoad(change func(*frame.Load)) {
	l := s.Load()
	change(&l)
	s.SetLoad(l)
}

func (s *fakeSource) SetLoad(l frame.Load) frame.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load = l
	s.level++
	s.levelAt = s.now
	s.events = append(s.events, frame.Event{At: s.now, Kind: frame.EventLoad})
	return l
}

func (s *fakeSource) FireLong() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, "long")
	s.long = s.now + 900*time.Millisecond
	s.events = append(s.events, frame.Event{At: s.now, Kind: frame.EventLong})
}

func (s *fakeSource) Abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, "abort")
	s.load.Concurrency = 0
	s.streams = nil
}

func (s *fakeSource) ResetStatistics() { s.note("reset") }

func (s *fakeSource) ChooseReplica(name string) {
	s.note("replica " + name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replica = name
}

func (s *fakeSource) ChooseModel(name string) {
	s.note("model " + name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = name
}

func (s *fakeSource) SetWindow(n int) {
	s.note("window")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seconds = n
}

func (s *fakeSource) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

// fakeJudge always says the same.
type fakeJudge struct{ added int }

func (j *fakeJudge) Add(*frame.Frame) { j.added++ }

func (j *fakeJudge) Book() *level.Book { return level.NewBook(nil) }

func (j *fakeJudge) Checked() diagnose.Checked {
	return diagnose.Checked{Hold: []diagnose.Rule{"decode_memory"}, RuledOut: []diagnose.Rule{"overload", "kv_full"}, Inconclusive: []diagnose.Rule{"slow_start"}}
}

func (j *fakeJudge) Incidents() []diagnose.Incident {
	return []diagnose.Incident{
		{Rule: "preemptions", Severity: diagnose.Warn, Text: "the KV cache is too small for this load: 4 preemptions in 30 s", From: 3 * time.Second, To: 19 * time.Second},
		{Rule: "overload", Severity: diagnose.Bad, Text: "overload: the queue keeps growing, from 9 to 26 in 12 s", From: 25 * time.Second, To: 30 * time.Second, Open: true},
	}
}

func (j *fakeJudge) Verdicts() []diagnose.Verdict {
	return []diagnose.Verdict{{Rule: "decode_memory", Severity: diagnose.Info,
		Text:     "decode is bound by memory bandwidth",
		Evidence: []string{"DRAM 71 % of peak", "TPOT 14.1 ms = 2.8× the floor of 5.1 ms", "queue empty"},
		Advice:   "a larger batch costs little: raise the concurrency until TTFT p95 moves"}}
}
