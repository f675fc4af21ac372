package exporter

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/gpu"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// The same page for 40 s. An energy counter moves on an idle GPU, too; without one only
// a GPU that works cannot repeat itself.
func TestFrozenPages(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		frozen bool
		note   string // that begins the GPU's note after 40 s
	}{
		"energy stands still":      {"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} 70\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"GPU-a\"} 5000\n", true, noteFrozen},
		"power to a milliwatt":     {"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} 512.345\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\"} 97\n", true, noteRepeats},
		"AMD's energy":             {"gpu_gfx_activity{gpu_id=\"0\"} 0\ngpu_energy_consumed{gpu_id=\"0\"} 9\n", true, noteFrozen},
		"nvidia_gpu_exporter":      {"nvidia_smi_power_draw_watts{uuid=\"a\"} 70\nnvidia_smi_energy_joules_total{uuid=\"a\"} 9\n", true, noteFrozen},
		"idle, without an energy":  {"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} 70\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\"} 0\n", false, ""},
		"an energy that is absent": {"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} 70\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=\"GPU-a\"} 0\n", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				moved := ""
				client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(c.body + moved))}, nil
				})}
				page, err := Open(t.Context(), "node:9400", Options{Client: client, Interval: time.Second})
				if err != nil {
					t.Fatal(err)
				}
				read := func(after time.Duration) gpu.Reading {
					time.Sleep(after)
					st, err := page.Read(t.Context())
					if err != nil || len(st.GPUs) != 1 {
						t.Fatalf("%v, %+v", err, st)
					}
					return st.GPUs[0]
				}
				const alone = "values of unknown age: the page has not changed since it was first read"
				if g := read(34 * time.Second); g.Doubts != 0 || !strings.HasSuffix(g.Note, alone) {
					t.Errorf("after 34 s %+v", g)
				}
				for range 2 { // the second reading says it once, too
					g := read(3 * time.Second)
					if g.Doubts == gpu.DoubtFrozen != c.frozen || c.frozen == (g.Power.OK || g.Busy.OK) || strings.Count(g.Note, "frozen") > 1 || !strings.HasPrefix(g.Note, c.note) {
						t.Errorf("%+v", g)
					}
				}
				moved = "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-a\"} 55\n"
				if strings.HasPrefix(c.body, "DCGM") {
					if g := read(time.Second); g.Doubts != 0 || !g.Power.OK || strings.Contains(g.Note, "frozen") || strings.Contains(g.Note, alone) {
						t.Errorf("after a change %+v", g)
					}
				}
			})
		})
	}
}

// An idle GPU that shows the same values for 20 s. Their age is that of the page where the
// exporter measures for each page, and nothing on it must move.
func TestAgeOfValuesThatStandStill(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		age  time.Duration
	}{
		"measured for each page":      {"nvidia_smi_power_draw_watts{uuid=\"a\"} 70\nnvidia_smi_utilization_gpu_ratio{uuid=\"a\"} 0\n", 0},
		"an energy counter must move": {"nvidia_smi_power_draw_watts{uuid=\"a\"} 70\nnvidia_smi_energy_joules_total{uuid=\"a\"} 9\n", 20 * time.Second},
		"a GPU that works must vary":  {"nvidia_smi_power_draw_watts{uuid=\"a\"} 640\nnvidia_smi_utilization_gpu_ratio{uuid=\"a\"} 1\n", 20 * time.Second},
		"collected now and then":      {"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} 70\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\"} 0\n", 20 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(c.body))}, nil
			})}
			page, err := Open(t.Context(), "node:9835", Options{Client: client, Interval: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
			st, err := page.Read(t.Context())
			if age := time.Since(st.At); err != nil || age != c.age || strings.Contains(st.GPUs[0].Note, "unknown age") != (c.age > 0) {
				t.Errorf("%s: %v, age %v, note %q", name, err, age, st.GPUs[0].Note)
			}
		})
	}
}

// Shares of time that are usually whole percentages, as one exporter after the other
// writes them for GPUs with these powers (W, limit 700 W).
func TestFractionsWherePercentIsUsual(t *testing.T) {
	type sample struct{ value, watts float64 }
	u := opt.Float{}
	for name, c := range map[string]struct {
		pages [][]sample
		want  []opt.Float // busy time of the GPUs on the last page
		note  string      // of the first one
	}{
		"fractions at full power":               {[][]sample{{{0.97, 640}}}, []opt.Float{opt.Of(0.97)}, noteFractions},
		"one of two works":                      {[][]sample{{{1, 640}, {0.02, 90}}}, []opt.Float{opt.Of(1), opt.Of(0.02)}, noteFractions},
		"1.02 is 1":                             {[][]sample{{{1.02, 640}}}, []opt.Float{opt.Of(1)}, noteFractions},
		"1.7 is unknown":                        {[][]sample{{{0.9, 640}, {1.7, 640}}}, []opt.Float{opt.Of(0.9), u}, noteFractions},
		"1.7 alone is unknown":                  {[][]sample{{{1.7, 640}}}, []opt.Float{u}, noteUnit},
		"an idle GPU at 1 %":                    {[][]sample{{{1, 75}}}, []opt.Float{opt.Of(0.01)}, ""},
		"unclear at low power":                  {[][]sample{{{0.4, 75}}}, []opt.Float{u}, noteUnit},
		"idle after work":                       {[][]sample{{{0.97, 640}}, {{0.01, 75}}}, []opt.Float{opt.Of(0.01)}, noteFractions},
		"percent":                               {[][]sample{{{97, 640}}}, []opt.Float{opt.Of(0.97)}, ""},
		"percent, and load that has just ended": {[][]sample{{{97, 640}}, {{1, 400}}}, []opt.Float{opt.Of(0.01)}, ""},
		"percent with decimals":                 {[][]sample{{{97.5, 640}}, {{0.5, 75}}}, []opt.Float{opt.Of(0.005)}, ""},
		"percent after all":                     {[][]sample{{{1, 400}}, {{97, 640}}}, []opt.Float{opt.Of(0.97)}, ""},
		"a stuck 0 stays 0 here":                {[][]sample{{{0, 640}}}, []opt.Float{opt.Of(0)}, ""},
	} {
		for exporter, families := range map[string][3]string{
			"dcgm": {"DCGM_FI_DEV_GPU_UTIL{gpu=\"%d\"}", "DCGM_FI_DEV_POWER_USAGE{gpu=\"%d\"}", "DCGM_FI_DEV_ENFORCED_POWER_LIMIT{gpu=\"%d\"}"},
			"amd":  {"gpu_gfx_activity{gpu_id=\"%d\"}", "gpu_package_power{gpu_id=\"%d\"}", "gpu_unused{gpu_id=\"%d\"}"},
		} {
			past := newPast()
			var got []gpu.Reading
			for _, samples := range c.pages {
				body := ""
				for i, s := range samples {
					for j, v := range []float64{s.value, s.watts, 700} {
						body += fmt.Sprintf(families[j]+" %v\n", i, v)
					}
				}
				page, err := prom.Parse([]byte(body), isGPUFamily)
				if err != nil {
					t.Fatal(err)
				}
				_, got = readPage(page, time.Time{}, nil, past)
				got = gpu.Checked(got)
			}
			if len(got) != len(c.want) || strings.Contains(got[0].Note, "busy time is") != (c.note != "") || !strings.Contains(got[0].Note, c.note) {
				t.Errorf("%s, %s: %+v", name, exporter, got)
				continue
			}
			for i, want := range c.want {
				if b := got[i].Busy; b.OK != want.OK || b.V-want.V > 1e-9 || want.V-b.V > 1e-9 {
					t.Errorf("%s, %s: GPU %d is busy for %v, want %v", name, exporter, i, b, want)
				}
			}
		}
	}
}
