package api

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sonde/probe/plain"
)

// TLSFiles are PEM files; "" is none.
type TLSFiles struct {
	CA   string // further authorities for servers
	Cert string // the client's certificate, for servers that want one
	Key  string // its key; "": in the file of the certificate
}

// TLSConfig returns how servers are verified, against the system's authorities and those
// of a file, or not at all, and what they are shown.
func TLSConfig(files TLSFiles, insecure bool) (*tls.Config, error) {
	cfg := &tls.Config{InsecureSkipVerify: insecure, MinVersion: tls.VersionTLS12}
	if files.CA != "" {
		raw, err := os.ReadFile(files.CA)
		if err != nil {
			return nil, fmt.Errorf("--ca: %w", err)
		}
		if cfg.RootCAs, err = x509.SystemCertPool(); err != nil {
			cfg.RootCAs = x509.NewCertPool()
		}
		if !cfg.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("--ca %s: no PEM certificate in this file", files.CA)
		}
	}
	if files.Cert == "" && files.Key == "" {
		return cfg, nil
	}
	certificate, err := clientCertificate(files.Cert, files.Key)
	if err != nil {
		return nil, err
	}
	// Whatever authorities a server names: one that does not like the certificate says why.
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate, nil }
	return cfg, nil
}

// clientCertificate reads a certificate and its key. Its errors say what is wrong with
// the files, and repeat nothing that is in them.
func clientCertificate(certFile, keyFile string) (*tls.Certificate, error) {
	if certFile == "" {
		return nil, errors.New("--key belongs to a client certificate: add --cert FILE (an API key is given with --api-key)")
	}
	together := keyFile == ""
	keyFile = cmp.Or(keyFile, certFile)
	cert, err := pemFile("--cert", certFile)
	if err != nil {
		return nil, err
	}
	key, err := pemFile("--key", keyFile)
	switch {
	case err != nil:
		return nil, err
	case !cert.holds("CERTIFICATE") && cert.holds("PRIVATE KEY"):
		return nil, fmt.Errorf("--cert %s holds a key and no certificate: are --cert and --key swapped?", certFile)
	case !cert.holds("CERTIFICATE"):
		return nil, fmt.Errorf("--cert %s holds no certificate: it must have a part BEGIN CERTIFICATE", certFile)
	case !key.holds("PRIVATE KEY") && together:
		return nil, fmt.Errorf("--cert %s holds no key: add --key FILE", certFile)
	case !key.holds("PRIVATE KEY"):
		return nil, fmt.Errorf("--key %s holds no key: it must have a part BEGIN PRIVATE KEY", keyFile)
	case key.encrypted:
		return nil, fmt.Errorf("the key in %s is encrypted: decrypt it with openssl pkey -in %[1]s -out key.pem", keyFile)
	}
	pair, err := tls.X509KeyPair(cert.raw, key.raw)
	if err != nil {
		return nil, fmt.Errorf("the key in %s does not fit the certificate in %s (%s): use the two that were issued together", keyFile, certFile, strings.TrimPrefix(err.Error(), "tls: "))
	}
	switch now := time.Now(); {
	case now.After(pair.Leaf.NotAfter):
		return nil, fmt.Errorf("the client certificate in %s expired on %s: renew it, or set this machine's clock", certFile, pair.Leaf.NotAfter.Format(time.DateOnly))
	case now.Before(pair.Leaf.NotBefore):
		return nil, fmt.Errorf("the client certificate in %s is valid from %s on: set this machine's clock, or use another", certFile, pair.Leaf.NotBefore.Format(time.DateOnly))
	}
	return &pair, nil
}

// pemContent is a PEM file and what is in it.
type pemContent struct {
	raw       []byte
	types     []string // of its parts
	encrypted bool     // its key is
}

// pemFile reads the file of a flag.
func pemFile(flag, path string) (c pemContent, err error) {
	if c.raw, err = os.ReadFile(path); err != nil {
		return c, fmt.Errorf("%s %s cannot be read: %w", flag, path, plain.Cause(err))
	}
	for block, rest := pem.Decode(c.raw); block != nil; block, rest = pem.Decode(rest) {
		c.types = append(c.types, block.Type)
		isKey := strings.HasSuffix(block.Type, "PRIVATE KEY")
		c.encrypted = c.encrypted || isKey && (strings.HasPrefix(block.Type, "ENCRYPTED") || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"))
	}
	if len(c.types) == 0 {
		return c, fmt.Errorf("%s %s is not PEM text: convert it with openssl x509 or openssl pkey (DER), or openssl pkcs12 -nodes (.p12, .pfx)", flag, path)
	}
	return c, nil
}

// holds reports whether there is a part of that type.
func (c pemContent) holds(kind string) bool {
	return slices.ContainsFunc(c.types, func(t string) bool { return strings.HasSuffix(t, kind) })
}
