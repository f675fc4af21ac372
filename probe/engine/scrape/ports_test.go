package scrape

import (
	"net/url"
	"os"
	"slices"
	"testing"
)

// Other programs may listen on the usual ports of this machine.
func TestMain(m *testing.M) {
	otherPages = nil
	os.Exit(m.Run())
}

// elsewhere makes a server's port one of the usual other ports.
func elsewhere(t *testing.T, m *mock) {
	t.Helper()
	u, err := url.Parse(m.URL)
	if err != nil {
		t.Fatal(err)
	}
	before := otherPages
	otherPages = append(slices.Clone(otherPages), struct{ port, path string }{u.Port(), "/metrics"})
	t.Cleanup(func() { otherPages = before })
}

func TestMetricsAtAnotherPort(t *testing.T) {
	triton := serve(t, map[string]reply{"/metrics": file("triton-trtllm.txt")})
	silent := serve(t, map[string]reply{"/metrics": {body: "prometheus_build_info 1\n"}})
	elsewhere(t, silent)
	elsewhere(t, triton)
	api := serve(t, map[string]reply{"/v2": {body: `{"name":"triton","version":"2.60.0"}`}})
	got, err := Detect(t.Context(), Config{Base: api.URL, Header: map[string][]string{"Authorization": {"Bearer secret"}}})
	if !notFound(err) { // Triton has no model list
		t.Fatal(err)
	}
	if got.Kind != "triton-tensorrt_llm" || got.Version != "2.60.0" || got.MetricsURL != triton.URL+"/metrics" {
		t.Errorf("identity = %+v; want Triton and its page at %s", got, triton.URL)
	}
	if asked := triton.requests(); len(asked) != 1 {
		t.Errorf("%q, want one look", asked)
	}
}

// An engine that is known is not looked for elsewhere: another engine may live there.
func TestAKnownEngineIsNotLookedForAtOtherPorts(t *testing.T) {
	other := serve(t, map[string]reply{"/metrics": vllmPage})
	elsewhere(t, other)
	api := serve(t, map[string]reply{"/v1/models": list1("sglang")})
	got, err := Detect(t.Context(), Config{Base: api.URL})
	if err != nil || got.Kind != "sglang" || got.MetricsURL != "" || len(other.requests()) > 0 {
		t.Errorf("%+v, %v, asked %q", got, err, other.requests())
	}
}

// Behind Envoy the list is that of a server in the pool, and the pool's page is the
// endpoint picker's.
func TestEndpointPickerBehindEnvoy(t *testing.T) {
	picker := serve(t, map[string]reply{"/metrics": file("epp-gateway-api-1.0.txt")})
	elsewhere(t, picker)
	envoy := serve(t, map[string]reply{"/v1/models": {body: list1("vllm").body, header: map[string]string{"Server": "envoy"}}})
	got, err := Detect(t.Context(), Config{Base: envoy.URL})
	if err != nil || got.Kind != "vllm" || got.MetricsURL != picker.URL+"/metrics" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, base := range []string{"", "http://[", "https://h:1"} {
		if found := newFetcher(Config{Base: base}).otherPorts(t.Context()); found.by != nil {
			t.Errorf("%q: %+v", base, found)
		}
	}
}
