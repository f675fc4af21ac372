package watch

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sonde/gpu"
	"sonde/probe/prom"
)

// dcgmSeries is one series of a Prometheus answer, as JSON.
func dcgmSeries(name, labels, value string) string {
	metric := fmt.Sprintf(`"__name__":%q,"job":"dcgm"`, name)
	for label := range strings.SplitSeq(labels, ",") {
		key, text, _ := strings.Cut(label, "=")
		metric += fmt.Sprintf(",%q:%q", key, text)
	}
	return fmt.Sprintf(`{"metric":{%s},"value":[%d,%q]}`, metric, time.Now().Unix(), value)
}

// exporterScraped says when the exporter of an instance was scraped.
func exporterScraped(instance string, at time.Time) string {
	return fmt.Sprintf(`{"metric":{"job":"dcgm","instance":%q,"sonde_scraped":"yes"},"value":[%d,"%d"]}`, instance, time.Now().Unix(), at.Unix())
}

// watched runs a source on a scripted Prometheus.
func watched(t *testing.T, answer func() (series []string)) *Watcher {
	t.Helper()
	server, err := prom.NewServer("http://u:s3cret@prom:9090", &http.Client{Transport: pages(func(*http.Request) (*http.Response, error) {
		return page(`{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(answer(), ",") + `]}}`)
	})})
	if err != nil {
		t.Fatal(err)
	}
	s := OpenPrometheus(server, `cluster="c"`, time.Second)
	run(t, s)
	return s
}

func TestGPUsOfSeveralHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watched(t, func() []string {
			return []string{
				dcgmSeries("DCGM_FI_PROF_SM_ACTIVE", "instance=a:9400,UUID=GPU-1,gpu=0,Hostname=a,modelName=NVIDIA H100 80GB HBM3", "0.25"),
				dcgmSeries("DCGM_FI_PROF_DRAM_ACTIVE", "instance=a:9400,UUID=GPU-1,gpu=0,Hostname=a,modelName=NVIDIA H100 80GB HBM3", "0.5"),
				dcgmSeries("DCGM_FI_DEV_GPU_UTIL", "instance=a:9400,UUID=GPU-1,gpu=0,Hostname=a,modelName=NVIDIA H100 80GB HBM3", "80"),
				dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=b:9400,gpu=0", "300"), // neither UUID nor host
				dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=c:9400,gpu=0", "400"),
				exporterScraped("a:9400", time.Now()), exporterScraped("b:9400", time.Now()), exporterScraped("c:9400", time.Now()),
			}
		})
		synctest.Wait()
		st := s.Latest()
		if len(st.GPUs) != 3 || st.Why != "" || st.Source != "dcgm from Prometheus http://prom:9090" {
			t.Fatalf("status %+v", st)
		}
		g := st.GPUs[0]
		if g.ID != "GPU-1" || g.Name != "NVIDIA H100 80GB HBM3" || g.SM.Or(-1) != 0.25 || g.DRAM.Or(-1) != 0.5 || g.Busy.Or(-1) != 0.8 || g.Source != "dcgm-prometheus" {
			t.Errorf("first %+v", g)
		}
		for i, want := range []struct {
			id    string
			watts float64
		}{{"b:9400/0", 300}, {"c:9400/0", 400}} {
			if g := st.GPUs[i+1]; g.ID != want.id || g.Power.Or(-1) != want.watts || g.SM.OK {
				t.Errorf("got %+v, want %+v", g, want)
			}
		}
	})
}

// Three kinds of exporters in one fleet; of the GPU that two of them know DCGM tells.
func TestGPUsOfSeveralKindsOfExporters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watched(t, func() []string {
			return []string{
				dcgmSeries("DCGM_FI_PROF_SM_ACTIVE", "instance=a:9400,UUID=GPU-1,gpu=0", "0.25"),
				dcgmSeries("nvidia_smi_utilization_gpu_ratio", "instance=a:9835,uuid=1", "0.9"),
				dcgmSeries("nvidia_smi_utilization_gpu_ratio", "instance=b:9835,uuid=2", "0.8"),
				dcgmSeries("amd_gpu_gfx_activity", "instance=c:5000,gpu_id=0,serial_number=s3", "70"),
				exporterScraped("a:9400", time.Now()), exporterScraped("a:9835", time.Now()),
				exporterScraped("b:9835", time.Now()), exporterScraped("c:5000", time.Now()),
			}
		})
		synctest.Wait()
		st := s.Latest()
		if len(st.GPUs) != 3 || st.Source != "dcgm, nvidia_gpu_exporter, amd from Prometheus http://prom:9090" {
			t.Fatalf("%+v", st)
		}
		for i, want := range []struct {
			id, source string
			sm, busy   float64
		}{{"GPU-1", "dcgm-prometheus", 0.25, -1}, {"GPU-2", "nvidia_gpu_exporter-prometheus", -1, 0.8}, {"s3", "amd-prometheus", -1, 0.7}} {
			if g := st.GPUs[i]; g.ID != want.id || g.Source != want.source || g.SM.Or(-1) != want.sm || g.Busy.Or(-1) != want.busy {
				t.Errorf("got %+v, want %+v", g, want)
			}
		}
	})
}

// An exporter that moved has left series under its old address: the newest count.
func TestNewestSeriesOfAGPUCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := watched(t, func() []string {
			return []string{
				dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=a:9400,UUID=GPU-1,gpu=0", "100"), exporterScraped("a:9400", time.Now().Add(-40*time.Second)),
				dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=b:9400,UUID=GPU-1,gpu=0", "200"), exporterScraped("b:9400", time.Now()),
			}
		})
		synctest.Wait()
		if st := s.Latest(); len(st.GPUs) != 1 || st.GPUs[0].Power.Or(-1) != 200 {
			t.Errorf("status %+v", st)
		}
	})
}

func TestDeadExporterInPrometheusShowsItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var asked atomic.Int32
		s := watched(t, func() []string {
			asked.Add(1)
			// Scraped every 10 s, and no more after 20 s.
			at := begin.Add(min(time.Since(begin).Truncate(10*time.Second), 20*time.Second))
			watts := fmt.Sprint(100 + at.Sub(begin).Seconds())
			return []string{dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=a:9400,UUID=GPU-1,gpu=0", watts), exporterScraped("a:9400", at)}
		})
		time.Sleep(40500 * time.Millisecond)
		if st := s.Latest(); time.Since(st.At) != 20500*time.Millisecond || st.Why != "" || st.Period != 10*time.Second {
			t.Errorf("age %v, period %v, why %q; want 20.5 s, 10 s and patience", time.Since(st.At), st.Period, st.Why)
		}
		before := asked.Load()
		time.Sleep(20 * time.Second)
		if queries := asked.Load() - before; queries != 10 {
			t.Errorf("%d queries in 20 s, want one every 2 s", queries)
		}
		want := `Prometheus at http://prom:9090 has had no newer sample of DCGM_FI_…, nvidia_smi_… or gpu_… (AMD) with cluster="c" for 40s: does it still scrape them?`
		if st := s.Latest(); st.Why != want || len(st.GPUs) != 1 || time.Since(st.At) != 40500*time.Millisecond {
			t.Errorf("age %v, why %q\nwant %q", time.Since(st.At), st.Why, want)
		}
	})
}

func TestPrometheusWithoutGPUs(t *testing.T) {
	for name, c := range map[string]struct {
		series []string
		want   string
	}{
		"none":      {nil, `Prometheus at http://prom:9090 has no series DCGM_FI_…, nvidia_smi_… or gpu_… (AMD) with cluster="c": check --selector, and that it scrapes them`},
		"no labels": {[]string{dcgmSeries("DCGM_FI_DEV_GPU_UTIL", "instance=a", "1")}, "the series of exporters in Prometheus at http://prom:9090 name no GPU (labels UUID, gpu; uuid; gpu_id)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := watched(t, func() []string { return c.series })
				synctest.Wait()
				if st := s.Latest(); st.Why != c.want || len(st.GPUs) != 0 {
					t.Errorf("got  %q\nwant %q", st.Why, c.want)
				}
			})
		})
	}
}

// Prometheus scrapes an exporter every 10 s that repeats old values: the samples are new,
// and still say nothing. The GPU beside it is read on.
func TestFrozenExporterBehindPrometheus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		s := watched(t, func() []string {
			age := time.Since(begin).Truncate(10 * time.Second)
			return []string{
				dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=a:9400,UUID=GPU-1,gpu=0", "70"),
				dcgmSeries("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "instance=a:9400,UUID=GPU-1,gpu=0", "5000"),
				dcgmSeries("DCGM_FI_DEV_POWER_USAGE", "instance=b:9400,UUID=GPU-2,gpu=0", "70"),
				dcgmSeries("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "instance=b:9400,UUID=GPU-2,gpu=0", fmt.Sprint(70*age.Milliseconds()+1)),
				exporterScraped("a:9400", begin.Add(age)), exporterScraped("b:9400", begin.Add(age)),
			}
		})
		time.Sleep(25 * time.Second)
		if st := s.Latest(); !st.GPUs[0].Power.OK || !st.GPUs[1].Power.OK {
			t.Errorf("after 25 s %+v", st.GPUs)
		}
		time.Sleep(20 * time.Second)
		st := s.Latest()
		if !st.GPUs[0].At.Equal(begin) || !st.GPUs[1].At.Equal(begin.Add(40*time.Second)) || !st.At.Equal(st.GPUs[1].At) {
			t.Errorf("values of %v and %v, status of %v; want 0, 40 and 40 s", st.GPUs[0].At.Sub(begin), st.GPUs[1].At.Sub(begin), st.At.Sub(begin))
		}
		if g := st.GPUs[0]; g.ID != "GPU-1" || g.Power.OK || strings.Count(g.Note, "frozen: ") != 1 || g.Doubts != gpu.DoubtFrozen {
			t.Errorf("the frozen one: %+v", g)
		}
		if g := st.GPUs[1]; g.Power.Or(-1) != 70 || g.Doubts != 0 {
			t.Errorf("the other one: %+v", g)
		}
	})
}
