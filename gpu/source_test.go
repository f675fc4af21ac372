package gpu

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// noExporter refuses every connection and lists what was asked.
func noExporter(asked *[]string) *http.Client {
	return &http.Client{Transport: pages(func(r *http.Request) (*http.Response, error) {
		*asked = append(*asked, r.URL.String())
		return nil, errors.New("connection refused")
	})}
}

func TestAutoRemoteLooksForAnExporterEveryHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		s := start(t, Options{Mode: "auto", TargetHost: "gpu-box", Client: noExporter(&asked)})
		time.Sleep(65 * time.Second)
		synctest.Wait()
		if why := s.Latest().Why; why != "no GPU exporter at gpu-box:9400: give --gpu URL" {
			t.Error(why)
		}
		once := "http://gpu-box:9400/metrics http://gpu-box:9401/metrics"
		if got, want := strings.Join(asked, " "), once+" "+once+" "+once; got != want {
			t.Errorf("asked %s", got)
		}
	})
}

func TestRemoteHostNames(t *testing.T) {
	var asked []string
	o := Options{TargetHost: "[fd00::7]", Interval: time.Second, Client: noExporter(&asked)}
	if _, err := findRemote(t.Context(), o); err == nil || err.Error() != "no GPU exporter at [fd00::7]:9400: give --gpu URL" {
		t.Error(err)
	}
	if asked[0] != "http://[fd00::7]:9400/metrics" {
		t.Error(asked)
	}
	o.TargetHost = ""
	if _, err := findRemote(t.Context(), o); err == nil || err.Error() != "no host to look for a GPU exporter: give --gpu URL" {
		t.Error(err)
	}
}

func TestAutoLocalPrefersTheDriver(t *testing.T) {
	dcgm := fixture(t, "dcgm_noprof_l40s_1gpu.txt")
	withDriver := func(context.Context) (reader, error) {
		return openNVML(&fakeDriver{devices: []*fakeDevice{newFakeDevice("GPU-a")}}, time.Second)
	}
	without := func(context.Context) (reader, error) { return nil, codeVersionMismatch }

	var asked []string
	o := Options{Local: true, Interval: time.Second, Client: noExporter(&asked)}
	r, err := findLocal(t.Context(), o, withDriver)
	if _, ok := r.(*nvmlReader); !ok || err != nil || len(asked) > 0 {
		t.Errorf("with a driver: %T, %v, asked %v", r, err, asked)
	}
	_, err = findLocal(t.Context(), o, without)
	want := "driver and library versions differ: reload the driver or reboot; no GPU exporter at 127.0.0.1:9400"
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
	if e, ok := r.(*exporter); !ok || err != nil || e.shown != "http://127.0.0.1:9401/metrics" {
		t.Errorf("second exporter: %T, %v", r, err)
	}
}

func TestAutoTakesTheEnginesOwnPageOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		s := start(t, Options{Local: true, EngineGPUURL: "http://127.0.0.1:7000/gpu", Client: noExporter(&asked)})
		synctest.Wait()
		if why := s.Latest().Why; why != "GPU exporter at http://127.0.0.1:7000/gpu: connection refused" || len(asked) != 1 {
			t.Errorf("%q, asked %v", why, asked)
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
