package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/gpu/tool"
	"sonde/probe/opt"
)

// asked lists addresses that were asked, in order of the alphabet: several are
// asked at the same time.
type asked struct {
	mu  sync.Mutex
	all []string
}

// noTool is a machine without nvidia-smi.
var noTool = fmt.Errorf("nvidia-smi %w", tool.ErrMissing)

func (a *asked) sorted() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(a.all)), " ")
}

// refuse refuses every connection and lists what was asked.
func refuse(a *asked) *http.Client {
	return &http.Client{Transport: pages(func(r *http.Request) (*http.Response, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.all = append(a.all, r.URL.String())
		return nil, errors.New("connection refused")
	})}
}

// scripted is a reader whose readings a test makes up.
type scripted struct {
	next   func() (gpu.Status, error)
	closed int
}

func (s *scripted) Read(context.Context) (gpu.Status, error) { return s.next() }
func (s *scripted) Close()                                   { s.closed++ }

// gives is a reader of these GPUs.
func gives(gpus ...gpu.Reading) *scripted {
	return &scripted{next: func() (gpu.Status, error) {
		return gpu.Status{At: time.Now(), Source: gpu.SourceNVML, GPUs: gpus}, nil
	}}
}

// driver makes drivers of what opening the library and running nvidia-smi gives.
func driver(library reader, libraryErr error, tool reader, toolErr error) drivers {
	return drivers{
		func() (reader, error) { return library, libraryErr },
		func(context.Context) (reader, error) { return tool, toolErr },
	}
}

const noneThere = "no GPU exporter at %s (tried ports 9400, 9401, 9835, 5000)"

const startOne = ": start dcgm-exporter there (with -c 1000 for a value each second), or add --gpu URL or --prometheus URL"

func TestAutoRemoteLooksForAnExporterEveryHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asked
		s := start(t, Options{Mode: "auto", TargetHost: "gpu-box", Client: refuse(&a)})
		time.Sleep(65 * time.Second)
		synctest.Wait()
		if why, want := s.Latest().Why, fmt.Sprintf(noneThere, "gpu-box")+startOne; why != want {
			t.Errorf("got %q, want %q", why, want)
		}
		want := ""
		for _, port := range []string{"5000", "9400", "9401", "9835"} {
			want += strings.Repeat("http://gpu-box:"+port+"/metrics ", 3)
		}
		if got := a.sorted() + " "; got != want {
			t.Errorf("asked %s", got)
		}
	})
}

func TestRemoteHostNames(t *testing.T) {
	var a asked
	o := Options{TargetHost: "[fd00::7]", Interval: time.Second, Client: refuse(&a)}
	if _, err := findRemote(t.Context(), o); err == nil || err.Error() != fmt.Sprintf(noneThere, "fd00::7")+startOne {
		t.Error(err)
	}
	if !strings.Contains(a.sorted(), "http://[fd00::7]:9400/metrics") {
		t.Error(a.sorted())
	}
	o.TargetHost = ""
	if _, err := findRemote(t.Context(), o); err == nil || err.Error() != "no host to look for a GPU exporter: add --gpu URL" {
		t.Error(err)
	}
}

func TestAutoLocalPrefersTheDriver(t *testing.T) {
	dcgm := fixture(t, "dcgm_noprof_l40s_1gpu.txt")
	library := gives(gpu.Reading{ID: "GPU-a"})
	without := driver(nil, nvml.CodeVersionMismatch, nil, noTool)

	var a asked
	o := Options{Local: true, Interval: time.Second, Client: refuse(&a)}
	r, err := findLocal(t.Context(), o, driver(library, nil, nil, noTool))
	if r != library || err != nil || len(a.all) > 0 {
		t.Errorf("with a driver: %T, %v, asked %v", r, err, a.all)
	}
	_, err = findLocal(t.Context(), o, without)
	want := "driver and library versions differ: reload the driver or reboot; " + fmt.Sprintf(noneThere, "127.0.0.1")
	if err == nil || err.Error() != want {
		t.Errorf("nothing found: %v", err)
	}
	o.Client = &http.Client{Transport: pages(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "127.0.0.1:9401" {
			return page(dcgm)
		}
		return nil, errors.New("connection refused")
	})}
	r, err = findLocal(t.Context(), o, without)
	if err != nil || sourceOf(t, r) != "dcgm http://127.0.0.1:9401/metrics" {
		t.Errorf("second exporter: %T, %v", r, err)
	}
}

func TestLocalDriverFallsBackToNvidiaSMI(t *testing.T) {
	tool := gives(gpu.Reading{ID: "GPU-a"})
	noNVML := errors.New("this build has no NVML")
	r, err := openDriver(t.Context(), Options{Local: true, Interval: time.Second}, driver(nil, noNVML, tool, nil))
	if r != tool || err != nil {
		t.Fatalf("%T, %v", r, err)
	}
	same := fmt.Errorf("nvidia-smi: %w", nvml.CodeVersionMismatch)
	for _, c := range []struct {
		library, tool error
		want          string
	}{
		{nvml.CodeVersionMismatch, same, nvml.CodeVersionMismatch.Error()},
		{nvml.CodeLibraryNotFound, noTool, nvml.CodeLibraryNotFound.Error()},
		{nvml.CodeLibraryNotFound, same, nvml.CodeLibraryNotFound.Error() + "; nvidia-smi: " + nvml.CodeVersionMismatch.Error()},
		{noNVML, noTool, "this build has no NVML; nvidia-smi not found"},
	} {
		_, err := openDriver(t.Context(), Options{}, driver(nil, c.library, nil, c.tool))
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// This machine's GPUs for an endpoint elsewhere: only when asked for, and labelled.
func TestGPUsOfThisMachineAreLabelledForAnotherHost(t *testing.T) {
	library := gives(gpu.Reading{ID: "GPU-a", Note: "something"})
	r, err := openDriver(t.Context(), Options{Mode: "nvml", TargetHost: "gpu-box", Interval: time.Second}, driver(library, nil, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	st, err := r.Read(t.Context())
	if err != nil || !strings.HasPrefix(st.GPUs[0].Note, "a GPU of this machine, not of gpu-box; ") || st.Serve("gpu-box:8000", false) {
		t.Errorf("%v, %+v", err, st)
	}
}

// All ports are asked at once, the first in order of worth is taken, and what
// answers without being an exporter is told.
func TestUsualPortsAreAskedAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := map[string]string{"9400": "", "9835": fixture(t, "nvidia_gpu_exporter_h200_2gpu.txt"), "5000": fixture(t, "amd_mi300x_2gpu.txt")}
		client := &http.Client{Transport: pages(func(r *http.Request) (*http.Response, error) {
			switch body, open := bodies[r.URL.Port()]; {
			case !open:
				return nil, errors.New("connection refused")
			case body == "": // a filtered port
				<-r.Context().Done()
				return nil, r.Context().Err()
			default:
				return page(body)
			}
		})}
		began := time.Now()
		o := Options{TargetHost: "gpu-box", Interval: time.Second, Client: client}
		r, err := findRemote(t.Context(), o)
		if err != nil || sourceOf(t, r) != "nvidia_gpu_exporter http://gpu-box:9835/metrics" {
			t.Errorf("%T, %v", r, err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
		bodies = map[string]string{"9400": "<html></html>", "5000": fixture(t, "no_gpu_families.txt")}
		_, err = findRemote(t.Context(), o)
		want := fmt.Sprintf(noneThere, "gpu-box") + "; port 9400 answers, but HTML, not a metrics page; port 5000 answers, but without GPU metrics" + startOne
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	})
}

func TestAGPUThatIsNoLongerListedStaysAsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		a, b := gpu.Reading{ID: "GPU-a", Name: "NVIDIA Fake", Power: opt.Of(11)}, gpu.Reading{ID: "GPU-b", Index: 1, Power: opt.Of(12)}
		r := &scripted{next: func() (gpu.Status, error) {
			if age := time.Since(began); age < 2*time.Second || age >= 4*time.Second {
				return gpu.Status{GPUs: []gpu.Reading{a, b}}, nil
			}
			moved := b
			moved.Index = 0
			return gpu.Status{GPUs: []gpu.Reading{moved}}, nil
		}}
		s := newWatcher(time.Second, func(context.Context) (reader, error) { return r, nil })
		s.keepGone = true
		run(t, s)
		time.Sleep(2500 * time.Millisecond)
		st := s.Latest()
		if len(st.GPUs) != 2 || st.GPUs[0].ID != "GPU-b" || st.GPUs[0].Index != 0 || st.GPUs[0].Lost {
			t.Fatalf("%+v", st.GPUs)
		}
		if g := st.GPUs[1]; g.ID != "GPU-a" || !g.Lost || g.Power.OK || g.Note != "GPU lost: no longer listed" || g.Name != "NVIDIA Fake" {
			t.Errorf("%+v", g)
		}
		time.Sleep(2 * time.Second)
		if st := s.Latest(); len(st.GPUs) != 2 || st.GPUs[0].ID != "GPU-a" || st.GPUs[0].Lost || !st.GPUs[0].Power.OK {
			t.Errorf("after it came back: %+v", st.GPUs)
		}
	})
}

// A call of the driver that hangs cannot be cancelled: the readings grow old.
func TestHangingCallShowsAsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var calls, finished atomic.Int32
		r := &scripted{next: func() (gpu.Status, error) {
			if calls.Add(1) == 3 {
				<-release
			}
			finished.Add(1)
			return gpu.Status{At: time.Now()}, nil
		}}
		s := newWatcher(time.Second, func(context.Context) (reader, error) { return r, nil })
		stop := run(t, s)
		time.Sleep(60*time.Second + time.Millisecond)
		if age := time.Since(s.Latest().At); age != 59*time.Second+time.Millisecond {
			t.Errorf("age %v", age)
		}
		if calls.Load() != 3 || finished.Load() != 2 {
			t.Errorf("%d calls, %d came back", calls.Load(), finished.Load())
		}
		close(release)
		synctest.Wait()
		if age := time.Since(s.Latest().At); age != 0 {
			t.Errorf("age %v after the call came back", age)
		}
		stop()
		if r.closed != 1 {
			t.Errorf("closed %d times", r.closed)
		}
	})
}

func TestKeepingTheGoneWritesIntoNoOtherList(t *testing.T) {
	room := make([]gpu.Reading, 1, 4)
	room[0].ID = "GPU-a"
	withGone([]gpu.Reading{{ID: "GPU-b"}}, room)
	if got := room[:2][1].ID; got != "" {
		t.Errorf("%q was written behind a list that others hold", got)
	}
}

func TestPartsAndNumbersAreNotKept(t *testing.T) {
	before := []gpu.Reading{{ID: "GPU-a/1", Parent: "GPU-a"}, {ID: "host/0"}, {ID: "GPU-a"}}
	if got := withGone(before, []gpu.Reading{{ID: "GPU-a"}}); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAutoTakesTheEnginesOwnPageOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asked
		s := start(t, Options{Local: true, EngineGPUURL: "http://127.0.0.1:7000/gpu", Client: refuse(&a)})
		synctest.Wait()
		if why := s.Latest().Why; why != "cannot reach the GPU exporter at http://127.0.0.1:7000/gpu: connection refused" || len(a.all) != 1 {
			t.Errorf("%q, asked %v", why, a.all)
		}
	})
}

func TestOffNeedsNoGoroutine(t *testing.T) {
	s := Open(Options{Mode: "off"})
	s.Run(t.Context()) // returns at once
	if st := s.Latest(); st.State != gpu.Off || st.Source != "" {
		t.Errorf("%+v", st)
	}
}

func TestUnusableAddressIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Options{Mode: "ftp://node"})
		synctest.Wait()
		if why := s.Latest().Why; !strings.HasPrefix(why, "--gpu must be auto, nvml, off, ssh, ssh://[user@]host[:port] or the address of a page") {
			t.Error(why)
		}
	})
}

func TestPanicBecomesAReasonAndIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finds, r := 0, &scripted{next: func() (gpu.Status, error) { panic("boom") }}
		s := newWatcher(time.Second, func(context.Context) (reader, error) {
			finds++
			return r, nil
		})
		s.latest.Store(&gpu.Status{Source: "before"})
		ctx, cancel := context.WithTimeout(t.Context(), 65*time.Second)
		defer cancel()
		s.Run(ctx)
		if st := s.Latest(); st.Why != "GPU readings: internal error: boom" || st.Source != "before" {
			t.Errorf("%+v", st)
		}
		if finds != 3 || r.closed != 3 {
			t.Errorf("%d tries, %d closed", finds, r.closed)
		}
	})
}

func sourceOf(t *testing.T, r reader) string {
	t.Helper()
	st, err := r.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st.Source
}
