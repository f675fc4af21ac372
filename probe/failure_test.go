package probe

import (
	"context"
	"errors"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/guard"
)

func TestPanicOfTheSessionReachesItsReaders(t *testing.T) {
	s, err := New(Options{URL: "http://127.0.0.1:1", API: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	s.collector = nil                                               // whatever goes wrong in a tick
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // ends Follow if there is no panic
	defer cancel()
	s.Start(ctx)
	defer s.Close()
	var p *guard.PanicError
	told := false
	s.Follow(func(f *frame.Frame) { told = told || errors.As(f.Err, &p) })
	if !told {
		t.Error("no Frame told of the panic")
	}
}
