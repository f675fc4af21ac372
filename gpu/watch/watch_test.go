package watch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sonde/gpu"
	"sonde/probe/guard"
)

// pages answers requests without a network, so that time can be virtual.
type pages func(*http.Request) (*http.Response, error)

func (f pages) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func page(body string) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "exporter", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// run runs a Watcher until the test ends, or stop is called; call it inside a synctest
// bubble.
func run(t *testing.T, w *Watcher) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	guard.Go("watcher", func(err error) { t.Error(err) }, func() {
		defer close(ended)
		w.Run(ctx)
	})
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

func start(t *testing.T, o Options) *Watcher {
	t.Helper()
	w := Open(o)
	run(t, w)
	return w
}

func TestExporterAgeIsThatOfTheLastNewValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := fixture(t, "dcgm_default_h100_2gpu.txt"), fixture(t, "dcgm_default_h100_2gpu_t30.txt")
		began := time.Now()
		client := &http.Client{Transport: pages(func(*http.Request) (*http.Response, error) {
			if time.Since(began)/(30*time.Second)%2 == 0 {
				return page(old)
			}
			return page(next) // only an energy counter differs
		})}
		s := start(t, Options{Mode: "node:9400", Client: client})
		at := func(d time.Duration) gpu.Status {
			time.Sleep(time.Until(began.Add(d)))
			return s.Latest()
		}
		first := at(29500 * time.Millisecond)
		if len(first.GPUs) != 2 || !first.At.Equal(began) || first.Period != 0 || first.Why != "" ||
			first.Source != "dcgm http://node:9400/metrics" || strings.Contains(first.GPUs[0].Note, "updates every") {
			t.Errorf("before the second collection: %+v", first)
		}
		if st := at(45 * time.Second); !st.At.Equal(began.Add(30 * time.Second)) {
			t.Errorf("values from %v after the start", st.At.Sub(began))
		}
		st := at(61500 * time.Millisecond)
		want := "exporter updates every 30 s (its option -c 1000 makes that 1 s)"
		if st.Period != 30*time.Second || !strings.HasSuffix(st.GPUs[1].Note, want) {
			t.Errorf("period %v, note %q", st.Period, st.GPUs[1].Note)
		}
		if strings.Contains(first.GPUs[1].Note, "updates every") {
			t.Error("a status that was published before has changed")
		}
	})
}

func TestFailureKeepsOldReadingsAndTheirAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var requests atomic.Int32
		body := fixture(t, "dcgm_noprof_l40s_1gpu.txt")
		client := &http.Client{Transport: pages(func(*http.Request) (*http.Response, error) {
			requests.Add(1)
			if age := time.Since(began); age > 2500*time.Millisecond && age < 50*time.Second {
				return nil, errors.New("connection refused")
			}
			return page(body)
		})}
		s := start(t, Options{Mode: "http://user:secret@node:9400/gpu?token=secret", Client: client})
		time.Sleep(20 * time.Second)
		synctest.Wait()
		st := s.Latest()
		if len(st.GPUs) != 1 || !st.At.Equal(began) || st.Why != "cannot reach the GPU exporter at http://node:9400/gpu: connection refused" {
			t.Errorf("%+v", st)
		}
		// Discovery, three good ones, five failures; then the exporter that was there
		// is looked for after 5 and 10 s.
		if n := requests.Load(); n != 1+3+5+2 {
			t.Errorf("%d requests: a lost source is asked every second", n)
		}
		time.Sleep(60 * time.Second)
		if st := s.Latest(); st.Why != "" || len(st.GPUs) != 1 {
			t.Errorf("after the exporter came back: %+v", st)
		}
	})
}

func TestStalledPageEndsInAnErrorWithoutOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := fixture(t, "dcgm_noprof_l40s_1gpu.txt")
		var calls, open, overlaps atomic.Int32
		client := &http.Client{Transport: pages(func(r *http.Request) (*http.Response, error) {
			if calls.Add(1) <= 2 {
				return page(body)
			}
			if open.Add(1) > 1 {
				overlaps.Add(1)
			}
			<-r.Context().Done()
			open.Add(-1)
			return nil, r.Context().Err()
		})}
		s := start(t, Options{Mode: "node:9400", Client: client})
		time.Sleep(10500 * time.Millisecond)
		synctest.Wait()
		if st := s.Latest(); st.Why != "no answer from the GPU exporter at http://node:9400/metrics within 5s" || len(st.GPUs) != 1 {
			t.Errorf("%+v", st)
		}
		if calls.Load() != 4 || overlaps.Load() != 0 { // the second stalled one has begun
			t.Errorf("%d requests, %d overlaps", calls.Load(), overlaps.Load())
		}
	})
}
