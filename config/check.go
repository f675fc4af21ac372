package config

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sonde/gpu/remote"
	"sonde/probe/plain"
)

// between checks a number's range, ends included.
func between[T cmp.Ordered](value *T, low, high T) func() string {
	return func() string {
		if *value < low || *value > high {
			return fmt.Sprintf("must be %s to %s", plainly(low), plainly(high))
		}
		return ""
	}
}

// matches checks a text against a pattern.
func matches(value *string, form *regexp.Regexp, problem string) func() string {
	return func() string {
		if !form.MatchString(*value) {
			return problem
		}
		return ""
	}
}

// plainly writes a number without an exponent.
func plainly(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

func (c *Config) checkConcurrency() string {
	if c.Concurrency < 0 || c.Concurrency > c.MaxConcurrency {
		return fmt.Sprintf("must be 0 to %d (raise --max-concurrency for more)", c.MaxConcurrency)
	}
	return ""
}

// mostTurns bounds a conversation: its last prompt holds them all.
const mostTurns = 1000

func (c *Config) checkTurns() string {
	switch {
	case c.Turns < 1 || c.Turns > mostTurns:
		return fmt.Sprintf("must be 1 to %d", mostTurns)
	case c.Turns > 1 && c.API == "completions":
		return "needs the chat API: drop --api completions, which has no messages"
	}
	return ""
}

func (c *Config) checkThink() string {
	switch {
	case c.Think < 0 || c.Think > time.Hour:
		return "must be 0s to 1h"
	case c.Think > 0 && c.Turns < 2:
		return "is the pause between the turns of a conversation: add --turns 8"
	}
	return ""
}

func (c *Config) checkIdleTimeout() string {
	if c.IdleTimeout <= 0 {
		return "must be longer than 0, such as 60s"
	}
	return ""
}

// completed checks an address, and adds what its user left out.
func completed(address *string) func() string {
	return func() string {
		if *address == "" {
			return ""
		}
		full, err := NormalURL(*address)
		if err != nil {
			return err.Error()
		}
		*address = full
		return ""
	}
}

// fromPrometheus is the value of metrics and gpu that stands for the server of --prometheus.
const fromPrometheus = "prometheus"

func (c *Config) checkMetrics() string {
	if c.Metrics == "auto" {
		c.Metrics = ""
	}
	return c.checkReadings(&c.Metrics, "off")
}

func (c *Config) checkGPU() string {
	words := []string{"auto", "nvml", "off", "ssh"}
	if strings.HasPrefix(c.GPU, remote.Scheme) {
		if _, err := remote.Parse(c.GPU); err != nil {
			return err.Error()
		}
		return ""
	}
	if !strings.ContainsAny(c.GPU, ".:/") && c.GPU != "localhost" && !slices.Contains(append(words, fromPrometheus), c.GPU) {
		return "must be auto, nvml, off, ssh, ssh://[user@]host[:port] or an exporter's address such as http://host:9400/metrics"
	}
	return c.checkReadings(&c.GPU, words...)
}

// checkReadings checks where readings come from: one of the words, or an address.
func (c *Config) checkReadings(from *string, words ...string) string {
	switch {
	case slices.Contains(words, *from):
		return ""
	case *from != fromPrometheus:
		return completed(from)()
	case c.Prometheus == "":
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

// rooflineForm is MODEL@GPU, whatever models and GPUs there are; a model may be a path with an @.
var rooflineForm = regexp.MustCompile(`^(.*\S.*@[^@]*[^@\s][^@]*)?$`)

var printable = regexp.MustCompile(`^[ -~]*$`)

// checkModel refuses a name that neither JSON nor a label of a metric can hold.
func (c *Config) checkModel() string {
	if !utf8.ValidString(c.Model) {
		return "must be UTF-8 text"
	}
	return ""
}

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func (c *Config) checkHeaders() string {
	for _, h := range c.Headers {
		if !headerName.MatchString(h.Name) {
			return "must have a name of letters, digits and dashes before the colon"
		}
		if strings.ContainsFunc(h.Value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return "must not have control characters in its value"
		}
	}
	return ""
}

func (c *Config) checkCA() string {
	if c.CA == "" {
		return ""
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return "must be a readable file: " + plain.Cause(err).Error()
	}
	if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		return "must be a PEM file with at least one certificate"
	}
	return ""
}

// readable checks that there is a file at the path.
func readable(path *string) func() string {
	return func() string {
		if *path == "" {
			return ""
		}
		info, err := os.Stat(*path)
		if err != nil {
			return "must be a readable file: " + plain.Cause(err).Error()
		}
		if info.IsDir() {
			return "must be a file, not a directory"
		}
		return ""
	}
}

// writable checks that a file can be made at the path, before a run is wasted.
func writable(path *string) func() string {
	return func() string {
		if *path == "" {
			return ""
		}
		if info, err := os.Stat(*path); err == nil && info.IsDir() {
			return "must be a file, not a directory"
		}
		if info, err := os.Stat(filepath.Dir(*path)); err != nil || !info.IsDir() {
			return "must be in an existing directory"
		}
		return ""
	}
}

// checkRecord: a recording cannot be made again, so none is ever overwritten.
func (c *Config) checkRecord() string {
	if problem := writable(&c.Record)(); problem != "" || c.Record == "" {
		return problem
	}
	if _, err := os.Lstat(c.Record); err == nil {
		return "already exists: choose another name or move it"
	}
	return ""
}

// listensAt checks an address to serve on.
func listensAt(address *string) func() string {
	return func() string {
		const form = "must be host:port, such as 127.0.0.1:8000 or [::1]:8000"
		_, port, err := net.SplitHostPort(*address)
		if err != nil {
			return form
		}
		if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			return form
		}
		if _, err := url.Parse("http://" + *address); err != nil {
			return form
		}
		return ""
	}
}

// listens is listensAt for an address that may be omitted, or be a port alone, which only
// this machine can reach.
func listens(address *string) func() string {
	return func() string {
		if *address == "" {
			return ""
		}
		full := *address
		if _, err := strconv.Atoi(full); err == nil {
			full = net.JoinHostPort("127.0.0.1", full)
		}
		if listensAt(&full)() != "" {
			return "must be a port such as 9898, for this machine only, or host:port; :9898 is open to every host"
		}
		*address = full
		return ""
	}
}
