package wire

import (
	"testing"
	"time"
)

// TestBridge: a byte arrives, the wall clock is stepped, the byte is read.
func TestBridge(t *testing.T) {
	const sec = int64(time.Second)
	for _, c := range []struct {
		name      string
		step      int64 // of the wall clock, between arrival and read
		afterRead bool  // the byte arrived after the step
		readAfter int64 // ns between arrival and read
		want      time.Duration
	}{
		{name: "no step", readAfter: 3e6, want: 3 * time.Millisecond},
		{name: "forward by an hour", step: 3600 * sec, readAfter: 3e6, want: 3 * time.Millisecond},
		{name: "back by a minute", step: -60 * sec, readAfter: 3e6, want: 3 * time.Millisecond},
		{name: "back by 5 ms", step: -5e6, readAfter: 3e6, want: 3 * time.Millisecond},
		{name: "arrived after a step forward", step: 60 * sec, afterRead: true, readAfter: 2e6, want: 2 * time.Millisecond},
		{name: "arrived after a step back", step: -60 * sec, afterRead: true, readAfter: 2e6, want: 2 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			const wall, mono = int64(1_700_000_000) * 1e9, int64(50) * 1e9 // at the arrival
			b := &wallBridge{}
			b.lead.Store(wall - mono)
			stamped := wall
			if c.afterRead {
				stamped += c.step
				b.lateAt(wall-1e6, mono-1e6, wall-1e6) // a read before the step
			}
			got, ok := b.lateAt(wall+c.step+c.readAfter, mono+c.readAfter, stamped)
			if !ok || got != c.want {
				t.Errorf("late by %v (%v), want %v", got, ok, c.want)
			}
		})
	}
}

func TestSenselessStamp(t *testing.T) {
	b := newWallBridge()
	if d, ok := b.late(time.Now(), 0); ok {
		t.Errorf("a stamp of 1970 was taken: late by %v", d)
	}
}
