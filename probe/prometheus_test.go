package probe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sonde/probe/prompt"
)

// fakePrometheus answers with one series of the family that is asked for.
func fakePrometheus(t *testing.T) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		series := `{"__name__":"vllm:num_requests_running","job":"j","instance":"h:1"}`
		if strings.Contains(r.FormValue("query"), "DCGM_FI_") {
			series = `{"__name__":"DCGM_FI_DEV_POWER_USAGE","UUID":"GPU-1","gpu":"0","job":"j","instance":"h:1"}`
		}
		user, password, _ := r.BasicAuth()
		if user != "ann" || password != "s3cret" || !strings.Contains(r.FormValue("query"), `,job="j"}`) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":%s,"value":[%d,"7"]}]}}`, series, time.Now().Unix())
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "://", "://ann:s3cret@", 1)
}

// One Frame carries what both readers got from the server, and no page is looked for.
func TestEngineAndGPUFromPrometheus(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "metrics") {
			t.Errorf("asked for %s", r.URL.Path)
		}
		io.WriteString(w, `{"object":"list","data":[{"id":"m","owned_by":"vllm"}]}`)
	}))
	defer engine.Close()
	prompts, err := prompt.Open("", prompt.Unique, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{
		URL: engine.URL, API: "chat", Prompts: prompts, MaxConcurrency: 1, Tick: 10 * time.Millisecond,
		Metrics: FromPrometheus, GPU: FromPrometheus, Prometheus: fakePrometheus(t), Selector: `job="j"`,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s.Start(ctx)
	defer s.Close()
	if err := s.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	for range s.Tick() {
		frames := s.Since(0)
		f := frames[len(frames)-1]
		if !f.Engine.Have || len(f.GPU.GPUs) == 0 {
			continue
		}
		if f.Engine.Reading.Running.Or(-1) != 7 || f.GPU.GPUs[0].Power.Or(-1) != 7 || strings.Contains(f.Engine.Identity.MetricsURL+f.GPU.Source, "s3cret") {
			t.Errorf("engine %+v, GPU %+v", f.Engine, f.GPU)
		}
		return
	}
	t.Error("the session ended without a reading")
}
