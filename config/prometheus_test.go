package config

import (
	"strings"
	"testing"
)

func TestPrometheusIsTheSourceOfWhatWasNotGiven(t *testing.T) {
	const server = "http://prom:9090"
	for _, c := range []struct {
		name, file, metrics, gpu string
		args                     []string
	}{
		{name: "both", metrics: "prometheus", gpu: "prometheus"},
		{name: "page", args: []string{"--metrics", "h:2"}, metrics: "http://h:2", gpu: "prometheus"},
		{name: "found page", args: []string{"--metrics", "auto"}, metrics: "", gpu: "prometheus"},
		{name: "no page", args: []string{"--metrics", "off"}, metrics: "off", gpu: "prometheus"},
		{name: "driver", args: []string{"--gpu", "nvml"}, metrics: "prometheus", gpu: "nvml"},
		{name: "found GPU", args: []string{"--gpu", "auto"}, metrics: "prometheus", gpu: "auto"},
		{name: "of the file", file: "gpu = 'h:9400'", metrics: "prometheus", gpu: "http://h:9400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, clean(t), c.file)
			got := must(t, append([]string{"bench", "h:1", "--prometheus", "prom:9090"}, c.args...)...)
			if got.Prometheus != server || got.Metrics != c.metrics || got.GPU != c.gpu {
				t.Errorf("prometheus %q, metrics %q, gpu %q", got.Prometheus, got.Metrics, got.GPU)
			}
		})
	}
	clean(t)
	if c := must(t, "bench", "h:1"); c.Metrics != "" || c.GPU != "auto" || c.Prometheus != "" {
		t.Errorf("without a server: %v", c)
	}
}

func TestSelector(t *testing.T) {
	clean(t)
	for given, want := range map[string]string{
		`job="vllm"`:                            `job="vllm"`,
		` {job="vllm", namespace!~'x|y',} `:     `job="vllm", namespace!~'x|y'`,
		`job=~"a\"}b.*",pod="c"`:                `job=~"a\"}b.*",pod="c"`,
		"{}":                                    "",
		"job=`x`":                               "job=`x`",
		`job="v"} or vector(1) or {job="v"`:     "refused",
		`job=vllm`:                              "refused",
		`job="vllm"namespace="x"`:               "refused",
		`vllm:num_requests_running{job="vllm"}`: "refused",
	} {
		args := []string{"bench", "h:1", "--prometheus", "p:9090", "--selector", given}
		if want != "refused" {
			if c := must(t, args...); c.Selector != want {
				t.Errorf("%s became %q, want %q", given, c.Selector, want)
			}
			continue
		}
		if line := refused(t, args...); line != `--selector: must be label matchers with quoted values, such as 'job="vllm",namespace="prod"'` {
			t.Errorf("%s: %s", given, line)
		}
	}
}

func TestPrometheusSettingsThatLackTheServer(t *testing.T) {
	path := clean(t)
	for args, want := range map[string]string{
		`--selector job="x"`:   "--selector: chooses series of a Prometheus server: add --prometheus URL",
		"--gpu prometheus":     "--gpu prometheus: needs the server's address: add --prometheus URL",
		"--metrics prometheus": "--metrics prometheus: needs the server's address: add --prometheus URL",
		"--prometheus ftp://x": "--prometheus ftp://x: must be an http:// or https:// address",
	} {
		if got := refused(t, append([]string{"bench", "h:1"}, strings.Fields(args)...)...); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", args, got, want)
		}
	}
	write(t, path, "selector = 'job=\"x\"'\n") // waits for a run with a server
	must(t, "bench", "h:1")
}

func TestPasswordOfPrometheusIsNeverShown(t *testing.T) {
	clean(t)
	args := []string{"bench", "h:1", "--prometheus", "http://ann:" + secret + "@p:9090/?token=" + secret}
	if c := must(t, args...); !strings.Contains(c.Prometheus, secret) || strings.Contains(c.String(), secretTail) {
		t.Errorf("used %q, shown %s", c.Prometheus, c)
	}
	o := call(append(args, "--print-config")...)
	if strings.Contains(o.stdout+o.stderr, secretTail) || !strings.Contains(o.stdout, "# prometheus = 'http://p:9090/?token=…'") {
		t.Errorf("printed\n%s%s", o.stdout, o.stderr)
	}
	if o := call("bench", "h:1", "--prometheus", "http://ann:"+secret+"@p:99999"); o.code != 2 || strings.Contains(o.stderr, secretTail) {
		t.Errorf("code %d, %s", o.code, o.stderr)
	}
}
