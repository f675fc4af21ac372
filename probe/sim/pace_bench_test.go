//go:build unix

package sim

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
	"sonde/probe/sim/serve"
)

// BenchmarkStreams serves streams at 30 tokens/s each, on one core, to a client in a
// process of its own that reads and drops. It reports the rate, the processor time per
// token, and how late after its planned end an iteration's tokens are handed out.
//
//	go test ./probe/sim -run '^$' -bench Streams -benchtime 1x
func BenchmarkStreams(b *testing.B) {
	for _, streams := range []int{1, 64, 512} {
		b.Run(fmt.Sprint(streams), func(b *testing.B) {
			for range b.N {
				pace(b, streams)
			}
		})
	}
}

// latenessLog is an observer that notes how late tokens are handed out.
type latenessLog struct {
	core.Observer
	now   func() time.Duration
	mu    sync.Mutex
	ends  time.Duration // of the iteration under way
	late  []time.Duration
	given int
}

func (l *latenessLog) Iteration(it core.Iteration) { l.ends = it.End; l.Observer.Iteration(it) }

func (l *latenessLog) Tokens(all []core.Output) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = append(l.late, l.now()-l.ends)
	l.given += len(all)
	l.Observer.Tokens(all)
}

// pace runs one load for ten seconds.
func pace(b *testing.B, streams int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // as "sonde sim" has it
	// On this machine an iteration of 512 sequences with a few hundred tokens each lasts
	// about a thirtieth of a second.
	o := Options{MaxSeqs: 512, TokenBudget: 4096, KVGB: 45, Speed: 1.4}
	set, err := o.Resolve()
	if err != nil {
		b.Fatal(err)
	}
	// A Server whose driver is observed by the log, which passes on to the metrics.
	metrics, s := serve.NewMetrics(&set), &Server{setup: set}
	log := &latenessLog{Observer: metrics}
	s.driver = core.NewDriver(set, log)
	log.now = s.driver.Now
	s.Timetable = faults.NewTimetable(s.driver, set.Faults)
	s.api = serve.New(&s.setup, s.driver, s.Timetable, metrics)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	base, _, err := s.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	client := exec.Command(os.Args[0], "-test.run=TestReader")
	client.Env = append(os.Environ(), fmt.Sprintf("SONDE_SIM_READER=%s %d", strings.TrimPrefix(base, "http://"), streams))
	if err := client.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = client.Process.Kill(); _ = client.Wait() }()
	time.Sleep(3 * time.Second) // all have begun
	log.mu.Lock()
	log.late, log.given = nil, 0
	log.mu.Unlock()
	cpu, began := processorTime(b), time.Now()
	time.Sleep(10 * time.Second)
	log.mu.Lock()
	defer log.mu.Unlock()
	seconds := time.Since(began).Seconds()
	slices.Sort(log.late)
	at := func(q float64) float64 {
		return log.late[min(len(log.late)-1, int(q*float64(len(log.late))))].Seconds() * 1e3
	}
	b.ReportMetric(float64(log.given)/seconds, "tokens/s")
	b.ReportMetric(float64(len(log.late))/seconds, "steps/s")
	b.ReportMetric((processorTime(b)-cpu).Seconds()*1e6/float64(log.given), "cpu-µs/token")
	b.ReportMetric(at(0.5), "late-p50-ms")
	b.ReportMetric(at(0.99), "late-p99-ms")
	b.ReportMetric(0, "ns/op")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestReader is the client of BenchmarkStreams, in a process of its own.
func TestReader(t *testing.T) {
	var addr string
	var streams int
	if n, _ := fmt.Sscan(os.Getenv("SONDE_SIM_READER"), &addr, &streams); n < 2 {
		t.Skip("not the client of a benchmark")
	}
	const body = `{"messages":[{"role":"user","content":"Go on."}],"stream":true,"max_tokens":10000,"ignore_eos":true}`
	for range streams {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		go func() { _, _ = io.Copy(io.Discard, conn) }()
	}
	time.Sleep(time.Minute) // the benchmark ends this process
}
