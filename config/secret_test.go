package config

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

const (
	secret     = "sk-test-demo-000111222333"
	secretTail = "11222333" // its last eight characters
)

// No way in that a secret can take shows it on any way out.
func TestSecretsAreNeverShown(t *testing.T) {
	for name, args := range map[string][]string{
		"flag":            {"h:1", "--api-key", secret},
		"header":          {"h:1", "--header", "api-key: " + secret},
		"second header":   {"h:1", "--header", "A: b", "--header", "Authorization: Bearer " + secret},
		"password":        {"http://u:" + secret + "@h:1/v1"},
		"user":            {"http://" + secret + "@h:1"},
		"query":           {"https://h/x?api-version=2024-06-01&api_key=" + secret},
		"other query":     {"https://h/x?subscription=" + secret},
		"second query":    {"https://h/x?v=1;k=" + secret},
		"escaped value":   {"https://h/x?model=m%26" + secret},
		"bare query":      {"https://h/x?" + secret},
		"prometheus":      {"h:1", "--prometheus", "http://u:" + secret + "@h:9/?x=" + secret},
		"metrics query":   {"h:1", "--metrics", "h:2/metrics?id=" + secret},
		"escaped query":   {"https://h/x?%61pi_key=" + secret},
		"fragment":        {"https://h/x#" + secret},
		"metrics":         {"h:1", "--metrics", "http://u:" + secret + "@h:2/metrics"},
		"gpu":             {"h:1", "--gpu", "http://h:2/metrics?token=" + secret},
		"env":             {"h:1", "--api-key-env", "A_KEY"},
		"bad header":      {"h:1", "--header", secret},
		"bad header name": {"h:1", "--header", secret + " x: y"},
		"bad key":         {"h:1", "--api-key", secret + "\n" + secret},
		"bad user part":   {"ftp://u:" + secret + "@h:1"},
		"bad port":        {"http://u:" + secret + "@h:99999"},
		"bad host":        {"http://u:" + secret + "@"},
		"bad escape":      {"http://u:" + secret + "@h%zz"},
		"bad query":       {"http://h:x?key=" + secret},
		"unknown flag":    {"h:1", "--api-kee=" + secret},
		"unknown letter":  {"h:1", "-k" + secret},
		"loose word":      {"h:1", secret},
		"loose in sim":    {"sim", secret},
	} {
		for _, more := range [][]string{nil, {"--print-config"}} {
			t.Run(name+strings.Join(more, ""), func(t *testing.T) {
				clean(t)
				t.Setenv("A_KEY", secret)
				o := call(append(args, more...)...)
				shown := o.stdout + o.stderr + fmt.Sprintf("%v %+v %#v %s", o.config, o.config, &o.config, o.config)
				if strings.Contains(shown, secretTail) {
					t.Errorf("the secret is in\n%s", shown)
				}
				if bad := strings.HasPrefix(name, "bad"); bad != (o.code == 2) && !strings.HasPrefix(name, "unknown") && !strings.HasPrefix(name, "loose") {
					t.Errorf("code %d, stderr %q", o.code, o.stderr)
				}
			})
		}
	}
}

func TestSecretsOfEnvironmentAndFileAreNeverShown(t *testing.T) {
	for _, variable := range []string{"OPENAI_API_KEY", "SONDE_API_KEY", "SONDE_HEADER", "OPENAI_BASE_URL", "SONDE_URL"} {
		for _, value := range []string{secret, "X: " + secret, "http://u:" + secret + "@h:1", "ftp://u:" + secret + "@h:1", "\x01" + secret} {
			clean(t)
			t.Setenv(variable, value)
			o := call("bench", "--print-config")
			if strings.Contains(variable, "URL") && !strings.Contains(value, "@") {
				continue // a host of that name, no secret
			}
			if strings.Contains(o.stdout+o.stderr, secretTail) {
				t.Errorf("%s=%q is in\n%s%s", variable, value, o.stdout, o.stderr)
			}
			os.Unsetenv(variable)
		}
	}
	path := clean(t)
	for _, line := range []string{"api-key = '%s'", "header = 'A: %s'", "header = ['%s']", "api-key = ['%s']", "api-key = '%s", "url = 'http://u:%s@h:99999'"} {
		write(t, path, fmt.Sprintf(line, secret))
		if o := call("bench", "--print-config"); strings.Contains(o.stdout+o.stderr, secretTail) {
			t.Errorf("%s is in\n%s%s", line, o.stdout, o.stderr)
		}
	}
}

func TestRedactedLeavesTheRest(t *testing.T) {
	c := Config{
		URL:     "https://u:p@h:1/openai/d?api-version=2024-06-01&sig=x&model=a/b-7B&top_k=3&flag&empty=&",
		Metrics: "off", GPU: "http://h:9400/metrics?format=text", Prometheus: "http://h:9090/?x=1", APIKey: "k", Headers: []Header{{"A", "b"}},
	}
	r := c.Redacted()
	if want := "https://h:1/openai/d?api-version=2024-06-01&sig=…&model=a/b-7B&top_k=…&…&empty=&"; r.URL != want {
		t.Errorf("URL %q, want %q", r.URL, want)
	}
	if r.Prometheus != "http://h:9090/?x=…" || r.Metrics != c.Metrics || r.GPU != c.GPU || r.APIKey != "hidden" || r.Headers[0] != (Header{"A", "hidden"}) {
		t.Errorf("got %v", r)
	}
	if c.Headers[0].Value != "b" {
		t.Error("the original's headers were changed")
	}
}

func TestWarningAboutAReadableFile(t *testing.T) {
	path := clean(t)
	write(t, path, "[profile.lab]\napi-key = '"+secret+"'\n")
	if o := call(); o.stderr != "" {
		t.Errorf("a private file: %q", o.stderr)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if o := call(); o.code != 0 || o.stderr != "sonde: warning: "+path+" contains credentials and other users can read it: chmod 600 "+path+"\n" {
		t.Errorf("code %d, stderr %q", o.code, o.stderr)
	}
	write(t, path, "api-key-env = 'LAB_KEY'\n")
	if o := call(); o.stderr != "" {
		t.Errorf("no credentials in it: %q", o.stderr)
	}
}

func TestKeyArrivesWhole(t *testing.T) {
	clean(t)
	t.Setenv("OPENAI_API_KEY", secret)
	var got Config
	code := Execute(context.Background(), []string{"http://u:p@h:1?key=k"}, io.Discard, io.Discard, BuildInfo{},
		Actions{"": func(_ context.Context, c Config) error { got = c; return nil }})
	if code != 0 || got.APIKey != secret || got.URL != "http://u:p@h:1?key=k" {
		t.Errorf("code %d, key %q, URL %q", code, got.APIKey, got.URL)
	}
}
