package config

import (
	"regexp"
	"strings"
)

// fromPrometheus is the value of metrics and gpu that stands for the server of
// --prometheus.
const fromPrometheus = "prometheus"

// derivePrometheus makes the server the source of what was not given a source of
// its own.
func (r *resolved) derivePrometheus(c *Config) error {
	if c.Prometheus == "" {
		if c.Selector != "" && r.origins["selector"].rank == rankFlag {
			return r.fail("selector", "chooses series of a Prometheus server: add --prometheus URL")
		}
		return nil
	}
	for key, field := range map[string]*string{"metrics": &c.Metrics, "gpu": &c.GPU} {
		if !r.given(key) {
			*field = fromPrometheus
			r.origins[key] = origin{rankDefault, "--prometheus"}
		}
	}
	return nil
}

func needsPrometheus(c *Config) string {
	if c.Prometheus == "" {
		return "needs the server's address: add --prometheus URL"
	}
	return ""
}

func checkPrometheus(c *Config) string { return completeURL(&c.Prometheus) }

// matchers are PromQL's label matchers with a comma between them.
var matchers = func() *regexp.Regexp {
	const (
		text    = `"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`[^`]*`"
		matcher = `\s*[a-zA-Z_][a-zA-Z0-9_]*\s*(?:=~|!~|!=|=)\s*(?:` + text + `)\s*`
	)
	return regexp.MustCompile(`^` + matcher + `(?:,` + matcher + `)*$`)
}()

// checkSelector also takes braces and a last comma off. What is no list of matchers
// would make another query.
func checkSelector(c *Config) string {
	s := strings.TrimSpace(c.Selector)
	if inner, braced := strings.CutPrefix(s, "{"); braced && strings.HasSuffix(inner, "}") {
		s = strings.TrimSuffix(inner, "}")
	}
	s = strings.TrimSuffix(strings.TrimSpace(s), ",")
	if s != "" && !matchers.MatchString(s) {
		return `must be label matchers with quoted values, such as 'job="vllm",namespace="prod"'`
	}
	c.Selector = s
	return ""
}

// checkRoofline looks at the form only: which models and GPUs there are is not
// known here.
func checkRoofline(c *Config) string {
	at := strings.LastIndexByte(c.Roofline, '@')
	if c.Roofline != "" && (at < 0 || strings.TrimSpace(c.Roofline[:at]) == "" || strings.TrimSpace(c.Roofline[at+1:]) == "") {
		return "must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100"
	}
	return ""
}
