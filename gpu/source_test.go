package gpu

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/guard"
)

// asked lists addresses that were asked, in order of the alphabet: several are
// asked at the same time.
type asked struct {
	mu  sync.Mutex
	all []string
}

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

// noSMI is a machine without nvidia-smi.
func noSMI(context.Context, ...string) smiOutput {
	return smiOutput{err: errNoSMI}
}

const noneThere = "no GPU exporter at %s (tried ports 9400, 9401, 9835, 5000)"

const startOne = ": start dcgm-exporter there (with -c 1000 for a value each second), or give --gpu URL or --prometheus URL"

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
	if _, err := findRemote(t.Context(), o); err == nil || err.Error() != "no host to look for a GPU exporter: give --gpu URL" {
		t.Error(err)
	}
}

func TestAutoLocalPrefersTheDriver(t *testing.T) {
	dcgm := fixture(t, "dcgm_noprof_l40s_1gpu.txt")
	withDriver := func(Options) (reader, error) {
		return openNVML(&fakeDriver{devices: []*fakeDevice{newFakeDevice("GPU-a")}}, time.Second)
	}
	without := func(Options) (reader, error) { return nil, codeVersionMismatch }

	var a asked
	o := Options{Local: true, Interval: time.Second, Client: refuse(&a)}
	r, err := findLocal(t.Context(), o, withDriver, noSMI)
	if _, ok := r.(*nvmlReader); !ok || err != nil || len(a.all) > 0 {
		t.Errorf("with a driver: %T, %v, asked %v", r, err, a.all)
	}
	_, err = findLocal(t.Context(), o, without, noSMI)
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
	r, err = findLocal(t.Context(), o, without, noSMI)
	if e, ok := r.(*exporter); !ok || err != nil || e.shown != "http://127.0.0.1:9401/metrics" {
		t.Errorf("second exporter: %T, %v", r, err)
	}
}

func TestLocalDriverFallsBackToNvidiaSMI(t *testing.T) {
	tool := func(context.Context, ...string) smiOutput {
		return smiOutput{stdout: "GPU-a, 0, NVIDIA L4, 00000000:01:00.0, 35, 20, 23034, 1000, 40.5, 72, 50, 1500, 6251, Disabled, 0x0\n"}
	}
	noNVML := func(Options) (reader, error) { return nil, errors.New("this build has no NVML") }
	r, err := openDriver(t.Context(), Options{Local: true, Interval: time.Second}, noNVML, tool)
	if _, ok := r.(*smiReader); !ok || err != nil {
		t.Fatalf("%T, %v", r, err)
	}
	same := func(context.Context, ...string) smiOutput {
		return smiOutput{code: 18, stderr: "Driver/library version mismatch"}
	}
	for _, c := range []struct {
		nvml error
		smi  func(context.Context, ...string) smiOutput
		want string
	}{
		{codeVersionMismatch, same, codeVersionMismatch.Error()},
		{codeLibraryNotFound, noSMI, codeLibraryNotFound.Error()},
		{codeLibraryNotFound, same, codeLibraryNotFound.Error() + "; nvidia-smi: " + codeVersionMismatch.Error()},
		{errors.New("this build has no NVML"), noSMI, "this build has no NVML; no nvidia-smi here"},
	} {
		_, err := openDriver(t.Context(), Options{}, func(Options) (reader, error) { return nil, c.nvml }, c.smi)
		if err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// This machine's GPUs for an endpoint elsewhere: only when asked for, and labelled.
func TestGPUsOfThisMachineAreLabelledForAnotherHost(t *testing.T) {
	nvml := func(Options) (reader, error) {
		return openNVML(&fakeDriver{devices: []*fakeDevice{newFakeDevice("GPU-a")}}, time.Second)
	}
	r, err := openDriver(t.Context(), Options{Mode: "nvml", TargetHost: "gpu-box", Interval: time.Second}, nvml, noSMI)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	st, err := r.read(t.Context())
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
		if e, ok := r.(*exporter); !ok || err != nil || e.shown != "http://gpu-box:9835/metrics" {
			t.Errorf("%T, %v", r, err)
		}
		if took := time.Since(began); took != probeTimeout {
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
		a, b := newFakeDevice("GPU-a"), newFakeDevice("GPU-b")
		d, began := &fakeDriver{}, time.Now()
		d.onCount = func() {
			switch age := time.Since(began); {
			case age < 2*time.Second || age >= 4*time.Second:
				d.devices = []*fakeDevice{a, b}
			default:
				d.devices = []*fakeDevice{b} // it moves to index 0
			}
		}
		s := &source{interval: time.Second, keepGone: true, find: func(context.Context) (reader, error) { return openNVML(d, time.Second) }}
		s.latest.Store(&Status{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		guard.Go("source", func(err error) { t.Error(err) }, func() { s.Run(ctx) })
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

func TestKeepingTheGoneWritesIntoNoOtherList(t *testing.T) {
	room := make([]Reading, 1, 4)
	room[0].ID = "GPU-a"
	withGone([]Reading{{ID: "GPU-b"}}, room)
	if got := room[:2][1].ID; got != "" {
		t.Errorf("%q was written behind a list that others hold", got)
	}
}

func TestPartsAndNumbersAreNotKept(t *testing.T) {
	before := []Reading{{ID: "GPU-a/1", Parent: "GPU-a"}, {ID: "host/0"}, {ID: "GPU-a"}}
	if got := withGone(before, []Reading{{ID: "GPU-a"}}); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAutoTakesTheEnginesOwnPageOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asked
		s := start(t, Options{Local: true, EngineGPUURL: "http://127.0.0.1:7000/gpu", Client: refuse(&a)})
		synctest.Wait()
		if why := s.Latest().Why; why != "GPU exporter at http://127.0.0.1:7000/gpu: connection refused" || len(a.all) != 1 {
			t.Errorf("%q, asked %v", why, a.all)
		}
	})
}

func TestOffNeedsNoGoroutine(t *testing.T) {
	s := Open(Options{Mode: "off"})
	s.Run(t.Context()) // returns at once
	if st := s.Latest(); st.Why != "switched off with --gpu off" || st.Source != "" {
		t.Errorf("%+v", st)
	}
}

func TestUnusableAddressIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Options{Mode: "ftp://node"})
		synctest.Wait()
		if why := s.Latest().Why; !strings.HasPrefix(why, "--gpu is neither auto, nvml, off nor the address of a page") {
			t.Error(why)
		}
	})
}

type panicking struct{ closed *int }

func (panicking) read(context.Context) (Status, error) { panic("boom") }
func (p panicking) close()                             { *p.closed++ }

func TestPanicBecomesAReasonAndIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finds, closed := 0, 0
		s := &source{interval: time.Second, find: func(context.Context) (reader, error) {
			finds++
			return panicking{&closed}, nil
		}}
		s.latest.Store(&Status{Source: "before"})
		ctx, cancel := context.WithTimeout(t.Context(), 65*time.Second)
		defer cancel()
		s.Run(ctx)
		if st := s.Latest(); st.Why != "GPU readings: internal error: boom" || st.Source != "before" {
			t.Errorf("%+v", st)
		}
		if finds != 3 || closed != 3 {
			t.Errorf("%d tries, %d closed", finds, closed)
		}
	})
}
