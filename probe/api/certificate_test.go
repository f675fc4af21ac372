package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/probe/measure"
)

// identity writes a self-signed client certificate and its key.
func identity(t *testing.T, dir, name string, from, to time.Time) (certFile, keyFile string, cert *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	part := func(suffix, kind string, der []byte) string {
		path := filepath.Join(dir, name+suffix)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return part(".crt", "CERTIFICATE", der), part(".key", "PRIVATE KEY", raw), cert
}

var hour = time.Hour

// A server that wants a client certificate gets the one that was given; without it, or
// with another one, the cause and the flag are named.
func TestClientCertificates(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	cert, key, known := identity(t, dir, "known", now.Add(-hour), now.Add(hour))
	otherCert, otherKey, _ := identity(t, dir, "other", now.Add(-hour), now.Add(hour))
	pool := x509.NewCertPool()
	pool.AddCert(known)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(streaming))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: version}
		server.StartTLS()
		defer server.Close()
		for _, c := range []struct {
			cert, key string
			class     measure.Class
			says      string
		}{
			{cert, key, measure.OK, ""},
			{"", "", measure.TLS, "wants a client certificate"},
			{otherCert, otherKey, measure.TLS, "client certificate"},
		} {
			cfg, err := TLSConfig(TLSFiles{Cert: c.cert, Key: c.key}, true)
			if err != nil {
				t.Fatal(err)
			}
			client := real(t, server.URL, func(o *Options) { o.TLS = cfg })
			for _, length := range []int{1, 100_000} { // a long prompt is refused while it is sent
				res := client.Do(context.Background(), Call{Text: strings.Repeat("word ", length)}, quiet{})
				if res.Class != c.class || !strings.Contains(res.Error, c.says) || c.says != "" && !strings.Contains(res.Error, "--cert FILE --key FILE") {
					t.Errorf("%s, %q, %d words: %q (%s)", tls.VersionName(version), c.cert, length, res.Class, res.Error)
				}
			}
		}
	}
}

// Whatever is wrong with the files, one line says what, and shows nothing of a key.
func TestCertificateFilesThatDoNotWork(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	cert, key, _ := identity(t, dir, "a", now.Add(-hour), now.Add(hour))
	_, otherKey, _ := identity(t, dir, "b", now.Add(-hour), now.Add(hour))
	old, oldKey, _ := identity(t, dir, "old", now.Add(-9*hour), now.Add(-hour))
	early, earlyKey, _ := identity(t, dir, "early", now.Add(hour), now.Add(9*hour))
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	encrypted := file("encrypted", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nc2VjcmV0\n-----END ENCRYPTED PRIVATE KEY-----\n")
	legacy := file("legacy", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n")
	broken := file("broken", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n")
	der := file("der", "\x30\x82\x01")
	for _, c := range []struct{ cert, key, says string }{
		{key, cert, "are --cert and --key swapped?"},
		{cert, otherKey, "does not fit the certificate"},
		{cert, broken, "does not fit the certificate"},
		{cert, encrypted, "is encrypted: decrypt it with openssl pkey"},
		{cert, legacy, "is encrypted: decrypt it with openssl pkey"},
		{cert, "", "holds no key: add --key FILE"},
		{"", key, "add --cert FILE (an API key is given with --api-key)"},
		{cert, cert, "holds no key"},
		{der, key, "is not PEM text"},
		{filepath.Join(dir, "none"), key, "cannot be read"},
		{dir, key, "cannot be read"},
		{old, oldKey, "expired on " + now.Add(-hour).UTC().Format(time.DateOnly)},
		{early, earlyKey, "is valid from"},
	} {
		_, err := TLSConfig(TLSFiles{Cert: c.cert, Key: c.key}, false)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%s, %s: %v, want %q", c.cert, c.key, err, c.says)
		}
	}
	both := file("both", read(t, cert)+read(t, key))
	if _, err := TLSConfig(TLSFiles{Cert: both}, false); err != nil {
		t.Errorf("certificate and key in one file: %v", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
