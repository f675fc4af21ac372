package api

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/probe/measure"
)

// streaming answers every request with three tokens.
func streaming(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, part := range []string{roleChunk(""), content("a"), content("b"), content("c"), finished("stop"), usageChunk(4, 3), doneMark} {
		fmt.Fprint(w, part)
		w.(http.Flusher).Flush()
	}
}

// real makes a client of a server on a real socket.
func real(t *testing.T, url string, change func(*Options)) *Client {
	t.Helper()
	addr, err := ParseAddress(url, Chat)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Address: addr, Kind: Chat, Model: "m", Idle: 10 * time.Second, Epoch: time.Now()}
	if change != nil {
		change(&opt)
	}
	c, err := NewClient(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestHTTPSIsMeasuredLikeHTTP(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(streaming))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(streaming))
	defer secure.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(ca, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	trusting, err := TLSConfig(TLSFiles{CA: ca}, false)
	if err != nil {
		t.Fatal(err)
	}
	for url, cfg := range map[string]*tls.Config{plain.URL: nil, secure.URL: trusting} {
		c := real(t, url, func(o *Options) { o.TLS = cfg })
		for i := range 3 {
			res := c.Do(context.Background(), Call{Text: "x", MaxTokens: 3}, quiet{})
			if res.Class != measure.OK || res.Chunks != 3 || res.OutTokens != 3 {
				t.Fatalf("%s: class %q (%s), %d chunks", url, res.Class, res.Error, res.Chunks)
			}
			if res.Reused != (i > 0) || (res.Setup > 0) != (i == 0) {
				t.Errorf("%s, request %d: reused %v, setup %v", url, i, res.Reused, res.Setup)
			}
			if !(res.Start <= res.First && res.First <= res.Last && res.Last <= res.End) {
				t.Errorf("%s: start %v, first %v, last %v, end %v", url, res.Start, res.First, res.Last, res.End)
			}
		}
	}
}

func TestCertificatesThatDoNotFit(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(streaming))
	defer secure.Close()
	plain := httptest.NewServer(http.HandlerFunc(streaming))
	defer plain.Close()
	skipping, err := TLSConfig(TLSFiles{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, url string
		cfg       *tls.Config
		class     measure.Class
		says      string
	}{
		{"unknown authority", secure.URL, nil, measure.TLS, "--ca FILE"},
		{"not checked", secure.URL, skipping, measure.OK, ""},
		{"plain HTTP behind https", "https" + strings.TrimPrefix(plain.URL, "http"), nil, measure.TLS, "use http://"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := real(t, c.url, func(o *Options) { o.TLS = c.cfg }).Do(context.Background(), Call{Text: "x"}, quiet{})
			if res.Class != c.class || !strings.Contains(res.Error, c.says) {
				t.Errorf("class %q, %q; want %q, %q", res.Class, res.Error, c.class, c.says)
			}
		})
	}
	if _, err := TLSConfig(TLSFiles{CA: os.DevNull}, false); err == nil || !strings.Contains(err.Error(), "no PEM certificate") {
		t.Errorf("an empty CA file: %v", err)
	}
}
