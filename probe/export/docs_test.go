package export

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sonde/probe/canary"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// everyName are the names of all metrics, of the page and of probes on request.
func everyName(t *testing.T) map[string]bool {
	t.Helper()
	m := New("v")
	m.Count("e", "m", answered())
	m.Watch(func() []Status {
		return []Status{{Endpoint: "e", Model: "m", Up: opt.Of(1), LastSuccess: time.Unix(1, 0), Canary: &Canary{States: canaryStates, Since: time.Unix(1, 0), Budget: 1}}}
	})
	demand := prometheus.NewRegistry()
	demand.MustRegister(probed{&canary.Row{Last: *answered(), TTFT: opt.Of(1), TPOT: opt.Of(1), E2E: opt.Of(1)}, 0})
	broken := prometheus.NewRegistry()
	broken.MustRegister(probed{&canary.Row{Last: measure.Request{Class: measure.Connect}}, 0})
	names := map[string]bool{}
	for _, registry := range []prometheus.Gatherer{m.registry, demand, broken} {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			names[f.GetName()] = true
		}
	}
	return names
}

var metricName = regexp.MustCompile(`\b(sonde|probe)_[a-z0-9_]+\b`)

// Rules, dashboard and documentation name only metrics that exist.
func TestDocumentsNameMetricsThatExist(t *testing.T) {
	exists := everyName(t)
	named := map[string]bool{}
	for _, file := range []string{"alerts.yml", "grafana.json", "canary.md"} {
		raw, err := os.ReadFile("../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range metricName.FindAllString(string(raw), -1) {
			base := name
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				base = strings.TrimSuffix(base, suffix)
			}
			named[base] = true
			if !exists[base] {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
	}
	for name := range exists {
		if !named[name] {
			t.Errorf("no document names %s", name)
		}
	}
}

func TestDashboardIsJSON(t *testing.T) {
	raw, err := os.ReadFile("../../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(raw, &dashboard); err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || len(p.Targets) == 0 || p.Targets[0].Expr == "" {
			t.Errorf("panel %d %q: no query, or its number is there twice", p.ID, p.Title)
		}
		ids[p.ID] = true
	}
	if dashboard.Title == "" || len(ids) < 10 {
		t.Errorf("%q with %d panels", dashboard.Title, len(ids))
	}
}

// The alert rules do what their tests say, where promtool is installed.
func TestAlertRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	for _, args := range [][]string{{"check", "rules", "../../docs/alerts.yml"}, {"test", "rules", "testdata/alerts_test.yml"}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
