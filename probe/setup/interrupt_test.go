package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"sonde/config"
	"sonde/ui"
)

func TestExitCodes(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct {
		err  error
		code int
	}{
		{signalError{syscall.SIGINT}, 130},
		{fmt.Errorf("wrapped: %w", signalError{syscall.SIGTERM}), 143},
		{ui.ErrInterrupted, 130},
		{signalError{syscall.SIGHUP}, 129},
		{context.Canceled, 130},
		{Usage(errors.New("no such file")), 2},
		{errors.New("broken"), 1},
		{nil, 0},
	} {
		ends := config.Actions{"sim": func(context.Context, config.Config) error { return c.err }}
		if code := config.Execute(context.Background(), []string{"sim"}, io.Discard, io.Discard, config.BuildInfo{}, ends); code != c.code {
			t.Errorf("%v: code %d, want %d", c.err, code, c.code)
		}
	}
}
