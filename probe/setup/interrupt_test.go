package setup

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"sonde/config"
	"sonde/ui"
)

func TestExitCodes(t *testing.T) {
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
	} {
		var exit *config.ExitError
		if err := Exit(c.err); !errors.As(err, &exit) || exit.Code != c.code {
			t.Errorf("%v: %v, want code %d", c.err, err, c.code)
		}
	}
	if Exit(nil) != nil {
		t.Error("success has an exit code")
	}
}
