package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// fromPrometheus is the value of metrics and gpu that stands for the server of
// --prometheus.
const fromPrometheus = "prometheus"

func (c *Config) needsPrometheus() string {
	if c.Prometheus == "" {
		return "needs the server's address: add --prometheus URL"
	}
	return ""
}

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
func (c *Config) checkSelector() string {
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
func (c *Config) checkRoofline() string {
	at := strings.LastIndexByte(c.Roofline, '@')
	if c.Roofline != "" && (at < 0 || strings.TrimSpace(c.Roofline[:at]) == "" || strings.TrimSpace(c.Roofline[at+1:]) == "") {
		return "must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100"
	}
	return ""
}

func (c *Config) checkDuration() string {
	if c.Duration < 0 {
		return "must be longer than 0, such as 30s"
	}
	if c.Duration == 0 && c.Requests == 0 {
		return "the run would never end: give a time such as 30s, or --requests"
	}
	return ""
}

func (c *Config) checkWarmup() string {
	if c.Warmup.Requests < 0 || c.Warmup.Duration < 0 {
		return "must not be negative"
	}
	return ""
}

// mostLevels bounds a list: each level takes seconds at least.
const mostLevels = 1000

// checkLevels also reads the list.
func (c *Config) checkLevels() string {
	s := &c.Sweep
	s.Amounts, s.Open = nil, false
	if s.Levels == "auto" {
		return ""
	}
	for i, part := range strings.Split(s.Levels, ",") {
		amount, perSecond := strings.CutSuffix(strings.ReplaceAll(strings.TrimSpace(part), " ", ""), "/s")
		v, err := strconv.ParseFloat(amount, 64)
		switch {
		case err != nil || math.IsNaN(v) || v <= 0 || v > 100_000:
			return "must be levels such as 1,4,8 streams or 1/s,2/s requests per second, or auto"
		case i > 0 && perSecond != s.Open:
			return "must be all streams (1,4,8) or all rates (1/s,4/s)"
		case !perSecond && v != math.Trunc(v):
			return "must have whole numbers of streams; a rate is written 2.5/s"
		case !perSecond && int(v) > c.MaxConcurrency:
			return fmt.Sprintf("must be at most %d streams (raise --max-concurrency for more)", c.MaxConcurrency)
		case len(s.Amounts) == mostLevels:
			return fmt.Sprintf("must have at most %d levels", mostLevels)
		}
		s.Open = perSecond
		s.Amounts = append(s.Amounts, v)
	}
	return ""
}
