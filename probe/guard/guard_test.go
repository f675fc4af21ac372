package guard

import (
	"errors"
	"strings"
	"testing"
)

func TestPanicBecomesAnError(t *testing.T) {
	got := make(chan error, 1)
	Go("reading", func(err error) { got <- err }, func() { panic("oh") })
	err := <-got
	var p *PanicError
	if !errors.As(err, &p) || p.Name != "reading" || p.Value != "oh" || !strings.Contains(string(p.Stack), "TestPanicBecomesAnError") {
		t.Errorf("%v", err)
	}
	if err.Error() != "reading: internal error: oh" {
		t.Errorf("%q", err)
	}
}

func TestNoPanicIsNoError(t *testing.T) {
	done := make(chan struct{})
	Go("reading", func(err error) { t.Error(err) }, func() { close(done) })
	<-done
}
