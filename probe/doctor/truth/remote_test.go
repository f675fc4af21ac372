package truth

import (
	"crypto/tls"
	"net"
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Command {
		if Serve() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestServerInAProcessOfItsOwn(t *testing.T) {
	r, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(Round{Streams: 1, Gap: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	plain, err := net.Dial("tcp", r.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	ask(t, plain, 5, 2)
	secured, err := tls.Dial("tcp", r.HTTPS, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer secured.Close()
	ask(t, secured, 6, 4)
	report, err := r.Next(Round{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(report.Records); n != 2 {
		t.Fatalf("%d records, want 2", n)
	}
	first, second := report.Records[0], report.Records[1]
	if first.Request != 5 || len(first.WroteNS) != 2 || second.Request != 6 || len(second.WroteNS) != 4 {
		t.Errorf("records %+v", report.Records)
	}
	if first.ArrivedNS <= 0 || first.WroteNS[0] < first.ArrivedNS {
		t.Errorf("written at %d, before the request came at %d", first.WroteNS[0], first.ArrivedNS)
	}
}

func TestLostServerIsAnError(t *testing.T) {
	r, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, err := r.Next(Round{Streams: 1, Gap: time.Millisecond}); err == nil {
		t.Error("a server that has ended takes rounds")
	}
}
