package sim

import (
	"context"
	"time"
)

// timerGrain is how late a timer of the Go runtime may be on Linux, where its
// poller counts whole milliseconds.
const timerGrain = 1500 * time.Microsecond

// pause waits until the engine's clock shows end; false if ctx ended or something came
// in through kick before. The runtime's timer does the long part, the system's finer
// one the rest: gaps of 10 ms should not wobble by one.
func (d *driver) pause(ctx context.Context, end time.Duration, kick <-chan struct{}) bool {
	grain := timerGrain
	if d.core.virtual {
		grain = 0
	}
	d.timer.Reset(end - grain - d.now())
	select {
	case <-d.timer.C:
	case <-kick:
		return false
	case <-ctx.Done():
		return false
	}
	fineSleep(end - d.now())
	time.Sleep(end - d.now()) // what is left if the fine sleep was interrupted
	return true
}
