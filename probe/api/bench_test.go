//go:build unix

package api

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sonde/probe/collect"
	"sonde/probe/measure"
)

const (
	benchTokens = 60 // of a request
	benchTick   = 250 * time.Millisecond
)

// BenchmarkCost prints what a token costs this client and a bare reader, on one
// core, with the server in a process of its own. The CPU time is this process's.
//
//	go test ./probe/api -run - -bench Cost -benchtime 3x
func BenchmarkCost(b *testing.B) {
	for _, c := range []struct {
		name string
		load benchLoad
	}{
		{"even", benchLoad{perSecond: 20}},
		{"steps", benchLoad{perSecond: 20, steps: true}},
		{"fast", benchLoad{perSecond: 200}},
	} {
		b.Run(c.name, func(b *testing.B) { compareCost(b, c.load) })
	}
}

// compareCost lets both readers take turns and keeps the least that each took:
// what others do on the machine only adds.
func compareCost(b *testing.B, load benchLoad) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	url := benchServer(b, load)
	ours, bare := newBenchClient(b, url, benchStreams), &bareReader{url: url}
	ours.run(1) // connections, buffers, first growth
	bare.run(1)
	var least [2]spent
	for b.Loop() {
		least[0] = least[0].least(spend(ours.run))
		least[1] = least[1].least(spend(bare.run))
	}
	b.ReportMetric(0, "ns/op") // wall time is the server's pace
	b.ReportMetric(least[0].cpuNS, "cpu-ns/token")
	b.ReportMetric(least[1].cpuNS, "bare-cpu-ns/token")
	b.ReportMetric(least[0].cpuNS/least[1].cpuNS, "ratio")
	b.ReportMetric(least[0].allocs, "allocs/token")
	b.ReportMetric(ours.lateP99MS, "late-p99-ms")
}

// BenchmarkMemory prints what an open stream holds, among a thousand: heap and
// stacks, once a collection has dropped the rest.
func BenchmarkMemory(b *testing.B) {
	const streams, openFor = 1000, 3 * time.Second
	const perSecond = 20
	for b.Loop() {
		client := newBenchClient(b, benchServer(b, benchLoad{perSecond: perSecond}), streams)
		before := memoryInUse()
		ended := make(chan struct{})
		go func() {
			client.run(int(openFor/time.Second) * perSecond)
			close(ended)
		}()
		time.Sleep(openFor / 2)
		b.ReportMetric(float64(memoryInUse()-before)/streams, "B/stream")
		<-ended
	}
	b.ReportMetric(0, "ns/op") // wall time is the server's pace
}

func memoryInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// spent is what one token cost.
type spent struct{ cpuNS, allocs float64 }

func (s spent) least(o spent) spent {
	if s == (spent{}) {
		return o
	}
	return spent{min(s.cpuNS, o.cpuNS), min(s.allocs, o.allocs)}
}

// spend runs one round of requests and shares its cost over the tokens.
func spend(run func(tokens int) int) spent {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := cpuTime()
	n := float64(run(benchTokens))
	cpu := cpuTime() - began
	runtime.ReadMemStats(&after)
	return spent{cpuNS: float64(cpu) / n, allocs: float64(after.Mallocs-before.Mallocs) / n}
}

// cpuTime is the processor time of this process.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchClient is this package's client with the tracks of a session.
type benchClient struct {
	client    *Client
	collector *collect.Collector
	tracks    []*collect.Track
	epoch     time.Time
	lateP99MS float64
}

func newBenchClient(b *testing.B, url string, streams int) *benchClient {
	b.Helper()
	addr, err := ParseAddress(url, Chat)
	if err != nil {
		b.Fatal(err)
	}
	c := &benchClient{epoch: time.Now(), collector: collect.NewCollector(func() (int, time.Duration) { return 0, 0 })}
	c.client, err = NewClient(Options{Address: addr, Kind: Chat, Model: "m", Idle: time.Minute, Epoch: c.epoch})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.client.Close)
	for range streams {
		c.tracks = append(c.tracks, c.collector.NewTrack())
	}
	return c
}

// run makes one request on every stream and counts the tokens that came.
func (c *benchClient) run(tokens int) int {
	results := make(chan Result, len(c.tracks))
	for _, track := range c.tracks {
		go func() {
			track.Begin(time.Since(c.epoch), false, 1)
			res := c.client.Do(context.Background(), Call{Text: "hello", MaxTokens: tokens}, track)
			track.End(res.Request)
			results <- res
		}()
	}
	tick := time.NewTicker(benchTick)
	defer tick.Stop()
	chunks := 0
	for ended := 0; ended < len(c.tracks); {
		select {
		case res := <-results:
			if res.Class != measure.OK {
				panic(string(res.Class) + ": " + res.Error)
			}
			ended++
			chunks += res.Chunks
		case <-tick.C:
			c.lateP99MS = c.collector.Tick(time.Since(c.epoch), false).LateMS.P99
		}
	}
	return chunks
}

// bareReader is what a plain program does: net/http, a line scanner and the
// clock, nothing decoded and nothing kept.
type bareReader struct {
	url    string
	client http.Client
}

func (r *bareReader) run(tokens int) int {
	if r.client.Transport == nil {
		r.client.Transport = &http.Transport{MaxIdleConnsPerHost: benchStreams}
	}
	body, err := (&dialect{kind: Chat, model: "m"}).body(Call{Text: "hello", MaxTokens: tokens})
	if err != nil {
		panic(err)
	}
	var all sync.WaitGroup
	counts := make([]int, benchStreams)
	for i := range counts {
		all.Go(func() { counts[i] = r.read(body) })
	}
	all.Wait()
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// read counts the lines of one answer that hold something, without its last
// three: the finish reason, the usage and the end mark.
func (r *bareReader) read(body []byte) (tokens int) {
	resp, err := r.client.Post(r.url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	var last time.Time
	for lines.Scan() {
		if len(lines.Bytes()) > 0 {
			last = time.Now()
			tokens++
		}
	}
	if last.IsZero() || lines.Err() != nil {
		panic("the bare reader got no answer")
	}
	return tokens - 3
}

// BenchmarkDecode prints what it costs to decode the usual chunk.
func BenchmarkDecode(b *testing.B) {
	data := []byte(benchChunk)
	var d decoder
	for b.Loop() {
		if c, ok := d.decode(data); !ok || !c.bearing.answer {
			b.Fatal("not read")
		}
	}
}
