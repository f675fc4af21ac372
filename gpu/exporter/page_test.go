package exporter

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func fixture(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnswersThatAreNotAnExporter(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string // after the address
	}{
		{"not found", 404, "nothing", "the GPU exporter at %s answers HTTP 404"},
		{"HTML", 200, "<html></html>", "GPU exporter at %s: HTML, not a metrics page"},
		{"empty", 200, "", "GPU exporter at %s: empty page"},
		{"no GPU families", 200, fixture(t, "no_gpu_families.txt"), "no GPU metrics at %s: use the page of dcgm-exporter, nvidia_gpu_exporter or AMD's exporter"},
		{"endless", 200, strings.Repeat("# filler\n", 1<<20), "response from the GPU exporter at %s refused: too large: over 8 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			_, err := Open(t.Context(), server.URL, Options{Client: server.Client(), Interval: time.Second})
			if want := strings.Replace(c.want, "%s", server.URL+"/metrics", 1); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The exporter collects every 30 s, and once the values stay the same for three collections.
func TestPeriodIgnoresCollectionsWithoutChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watts := 100
		client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			body := fmt.Sprintf("DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-a\"} %d\n", watts)
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
		})}
		page, err := Open(t.Context(), "node:9400", Options{Client: client, Interval: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer page.Close()
		var period time.Duration
		for i, seconds := range []int{7, 30, 90, 30, 30} {
			time.Sleep(time.Duration(seconds) * time.Second)
			watts++
			st, err := page.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if period = st.Period; i < 1 && period != 0 {
				t.Errorf("period known after %d pages", i+2)
			}
		}
		if period != 30*time.Second {
			t.Error(period)
		}
	})
}
