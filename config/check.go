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
	"strconv"
	"strings"
	"time"
	"unicode"
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

func notNegative(value *time.Duration) func() string {
	return func() string {
		if *value < 0 {
			return "must not be negative"
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
		full, err := normalURL(*address)
		if err != nil {
			return err.Error()
		}
		*address = full
		return ""
	}
}

func (c *Config) checkMetrics() string {
	if c.Metrics == "auto" {
		c.Metrics = ""
	}
	switch c.Metrics {
	case "off":
		return ""
	case fromPrometheus:
		return c.needsPrometheus()
	}
	return completed(&c.Metrics)()
}

func (c *Config) checkGPU() string {
	switch c.GPU {
	case "auto", "nvml", "off":
		return ""
	case fromPrometheus:
		return c.needsPrometheus()
	}
	if !strings.ContainsAny(c.GPU, ".:/") && c.GPU != "localhost" {
		return "must be auto, nvml, off or an exporter's address such as http://host:9400/metrics"
	}
	return completed(&c.GPU)()
}

func (c *Config) checkAPIKey() string {
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' || r == 0x7f }) {
		return "must contain only printable ASCII characters"
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
		return "must be a readable file: " + reason(err)
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
			return "must be a readable file: " + reason(err)
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

// reason is the system's word alone, without operation and path.
func reason(err error) string {
	if system, ok := err.(*os.PathError); ok {
		return system.Err.Error()
	}
	return err.Error()
}

func (c *Config) checkListen() string {
	const form = "must be host:port, such as 127.0.0.1:8000 or [::1]:8000"
	_, port, err := net.SplitHostPort(c.Sim.Listen)
	if err != nil {
		return form
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return form
	}
	if _, err := url.Parse("http://" + c.Sim.Listen); err != nil {
		return form
	}
	return ""
}
