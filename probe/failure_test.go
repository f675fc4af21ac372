package probe

import (
	"context"
	"errors"
	"testing"
	"time"

	"sonde/probe/guard"
)

func TestPanicOfTheSessionReachesItsReaders(t *testing.T) {
	s, err := New(Options{URL: "http://127.0.0.1:1", API: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	s.collector = nil // whatever goes wrong in a tick
	s.Start(context.Background())
	defer s.Close()
	for range 500 {
		for _, f := range s.Since(0) {
			var p *guard.PanicError
			if errors.As(f.Err, &p) {
				return
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Error("no Frame told of the panic")
}
