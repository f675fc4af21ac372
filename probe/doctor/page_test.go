package doctor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sonde/gpu"
)

// sglangServer publishes no metrics unless a test gives it some.
func sglangServer() *scripted {
	s := goodServer()
	s.models = text(`{"data":[{"id":"m","owned_by":"sglang"}]}`)
	s.metrics = nil
	return s
}

func TestPageNamesWaysRightsAndCommands(t *testing.T) {
	const enable = "--enable-metrics\n"
	refused := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	for name, c := range map[string]struct {
		metrics http.HandlerFunc
		command bool
	}{
		"without metrics": {nil, true},
		"refused":         {refused, false},
		"with metrics":    {text("sglang:num_running_reqs{model_name=\"m\"} 1\nsglang:num_queue_reqs{model_name=\"m\"} 0\n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := sglangServer()
			s.metrics = c.metrics
			server := httptest.NewServer(s)
			defer server.Close()
			r := examine(t, server.URL, nil)
			md := r.Markdown()
			if strings.Contains(md, "sglang.launch_server "+enable) != c.command {
				t.Errorf("command expected: %v, page:\n%s", c.command, md)
			}
			for _, part := range []string{"| request: answer | " + server.URL + "/v1/chat/completions | no credentials | ok | streamed"} {
				if !strings.Contains(md, part) {
					t.Errorf("no %q in\n%s", part, md)
				}
			}
			if way := "| engine: metrics | " + server.URL + "/metrics |"; name == "with metrics" && !strings.Contains(md, way) {
				t.Errorf("no %q in\n%s", way, md)
			}
		})
	}
}

func TestPageHoldsNoSecrets(t *testing.T) {
	server := httptest.NewServer(sglangServer())
	defer server.Close()
	r := examine(t, strings.Replace(server.URL, "http://", "http://someone:hunter2@", 1)+"?api_key=hunter3", func(o *Options) {
		o.Header = http.Header{"X-Access": {"hunter4"}}
	})
	md := r.Markdown()
	r = examine(t, server.URL, func(o *Options) { o.APIKey = secret })
	md += r.Markdown()
	if strings.Contains(md, "hunter") || strings.Contains(md, secret[len(secret)-8:]) {
		t.Errorf("a secret is on the page:\n%s", md)
	}
	for _, rights := range []string{"| user and password, further headers |", "| API key |"} {
		if !strings.Contains(md, rights) {
			t.Errorf("no %q in\n%s", rights, md)
		}
	}
}

func TestExporterCommandIsForAnotherMachineOnly(t *testing.T) {
	for local, want := range map[bool]bool{true: false, false: true} {
		var r Report
		r.gpus(gpu.Status{Why: "no GPU exporter"}, "auto", local)
		if got := strings.Contains(r.Markdown(), "docker run -d"); got != want {
			t.Errorf("local %v: command %v, want %v", local, got, want)
		}
	}
}

func TestEveryNeedHasACommand(t *testing.T) {
	for _, n := range []Need{NeedSGLangMetrics, NeedLlamaMetrics, NeedExporter, NeedOpenFiles, NeedPorts} {
		if c := commands[n]; c.where == "" || c.line == "" {
			t.Errorf("no command for %q", n)
		}
	}
}
