package replay

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/frame"
	"sonde/probe/record"
)

const slice = 250 * time.Millisecond

// recording writes n Frames, four a second from 250 ms on, and a torn line.
func recording(t *testing.T, n int, tail string) *record.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := record.NewWriter(file, record.Header{URL: "http://h/v1"})
	for i := range n {
		w.Add(&frame.Frame{Seq: uint64(i + 1), At: time.Duration(i+1) * slice, Slice: slice})
		if i%100 == 99 {
			time.Sleep(2 * time.Second) // virtual: the writer keeps up
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(raw, tail...), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// viewer pulls as the screen does, and checks that the Frames follow each other.
type viewer struct {
	t     *testing.T
	p     *Player
	seq   uint64
	epoch int
	at    time.Duration // of its newest Frame
	since time.Duration // of the first Frame after the last jump
	got   int
}

func (v *viewer) pull() {
	v.t.Helper()
	synctest.Wait() // what can be read has been read
	if e := v.p.State().Epoch; e != v.epoch {
		v.epoch, v.seq, v.got = e, 0, 0
	}
	for _, f := range v.p.Since(v.seq) {
		if v.seq > 0 && f.Seq != v.seq+1 {
			v.t.Fatalf("Frame %d follows %d", f.Seq, v.seq)
		}
		if v.seq == 0 {
			v.since = f.At
		}
		v.seq, v.at = f.Seq, f.At
		v.got++
	}
}

// watch pulls four times a second.
func (v *viewer) watch(d time.Duration) {
	v.t.Helper()
	for range d / slice {
		time.Sleep(slice)
		v.pull()
	}
}

func (v *viewer) isAt(want time.Duration) {
	v.t.Helper()
	if v.at < want-slice || v.at > want || v.p.State().At != v.at {
		v.t.Errorf("at %v (by its own word %v), want %v", v.at, v.p.State().At, want)
	}
}

// play runs a test of a recording of n Frames in virtual time.
func play(t *testing.T, n int, tail string, at time.Duration, speed float64, test func(v *viewer)) {
	synctest.Test(t, func(t *testing.T) {
		f := recording(t, n, tail)
		ctx, cancel := context.WithCancel(t.Context())
		p, done := Play(ctx, f, at, speed)
		test(&viewer{t: t, p: p})
		cancel()
		<-done
	})
}

func TestItPlaysAtThePaceOfTheRecording(t *testing.T) {
	for _, speed := range []float64{0.5, 1, 8} {
		play(t, 1000, "", 0, speed, func(v *viewer) {
			v.pull()
			v.isAt(slice) // it begins with the first Frame
			v.watch(20 * time.Second)
			v.isAt(slice + time.Duration(speed*20*float64(time.Second)))
		})
	}
}

// 40 Frames last ten seconds; what is torn behind them is not there.
func TestItStaysOnTheLastFrame(t *testing.T) {
	play(t, 40, `{"type":"frame","seq":41,"at_ms":10250,`, 0, 1, func(v *viewer) {
		v.watch(9 * time.Second)
		if v.p.State().Ended {
			t.Error("ended before its end")
		}
		v.watch(time.Minute)
		s := v.p.State()
		if v.at != 10*time.Second || !s.Ended || s.Err != nil || s.Last != v.at || v.got != 40 {
			t.Errorf("at %v after %d Frames, %+v", v.at, v.got, s)
		}
		v.p.Jump(-3 * time.Second) // and can go back from there
		v.watch(time.Second)
		v.isAt(8 * time.Second)
		if v.p.State().Ended {
			t.Error("still ended")
		}
	})
}

func TestPauseAndSpeed(t *testing.T) {
	play(t, 1000, "", 0, 1, func(v *viewer) {
		v.watch(10 * time.Second)
		v.p.Pause(true)
		v.watch(10 * time.Second)
		v.isAt(slice + 10*time.Second)
		if s := v.p.State(); !s.Paused || s.Ended || s.Seeking {
			t.Errorf("%+v", s)
		}
		v.p.SetSpeed(4)
		v.watch(time.Second)
		v.isAt(slice + 10*time.Second) // a new speed does not start it
		v.p.Pause(false)
		v.watch(10 * time.Second)
		v.isAt(slice + 50*time.Second)
		for wish, want := range map[float64]float64{0: slowest, -1: slowest, 1e9: fastest} {
			if v.p.SetSpeed(wish); v.p.State().Speed != want {
				t.Errorf("speed %v for %v", v.p.State().Speed, wish)
			}
		}
	})
}

// A short way ahead no Frame is left out; back and far ahead it begins anew, with
// what leads up to the goal, and goes on at its pace from there.
func TestJumps(t *testing.T) {
	play(t, 4000, "", 0, 1, func(v *viewer) {
		v.watch(10 * time.Second)
		v.p.Jump(60 * time.Second)
		v.watch(5 * time.Second)
		v.isAt(slice + 75*time.Second)
		if v.epoch != 0 {
			t.Error("a short way ahead began anew")
		}
		v.p.Jump(-10 * time.Second)
		v.watch(5 * time.Second)
		if v.epoch != 1 || v.since != slice {
			t.Errorf("epoch %d begins at %v", v.epoch, v.since)
		}
		if v.at < 68*time.Second || v.at > 70*time.Second {
			t.Errorf("at %v", v.at)
		}
		v.p.Jump(10 * time.Minute)
		v.watch(10 * time.Second)
		at := v.at // the time that reading took is not made up for
		if v.epoch != 2 || at < 676*time.Second || at > 680*time.Second || v.since > at-lead || v.since < at-lead-25*time.Second {
			t.Errorf("epoch %d from %v to %v", v.epoch, v.since, at)
		}
		if v.p.State().Seeking {
			t.Error("still seeking")
		}
		v.watch(10 * time.Second)
		v.isAt(at + 10*time.Second)
	})
}

func TestJumpsBeyondTheEnds(t *testing.T) {
	play(t, 1000, "", 100*time.Second, 1, func(v *viewer) {
		v.watch(5 * time.Second)
		if v.at < 102*time.Second || v.since > slice {
			t.Errorf("from %v to %v", v.since, v.at)
		}
		v.p.Jump(-time.Hour)
		v.pull()
		v.isAt(slice)
		v.p.Pause(true)
		for range 5 { // faster than they can be taken up
			v.p.Jump(time.Hour)
			v.p.Jump(-time.Minute)
		}
		v.watch(3 * time.Second)
		v.isAt(190 * time.Second)
		v.p.Jump(time.Hour)
		v.watch(3 * time.Second)
		if s := v.p.State(); v.at != 250*time.Second || !s.Ended {
			t.Errorf("at %v, %+v", v.at, s)
		}
	})
}

// A broken line in the middle is left out. One at the end ends the playback there, with a
// reason; what is before it can still be seen.
func TestADamagedRecording(t *testing.T) {
	broken := "{\"type\":\"frame\",\"seq\"\n"
	next := `{"type":"frame","seq":41,"at_ms":10500,"slice_ms":250,"load":{},"client":{},"health":{}}` + "\n"
	play(t, 40, broken+next, 0, 1, func(v *viewer) {
		v.watch(15 * time.Second)
		if s := v.p.State(); v.at != 10500*time.Millisecond || !s.Ended || s.Err != nil {
			t.Errorf("at %v, %+v", v.at, s)
		}
		v.p.Jump(-5 * time.Second)
		v.watch(time.Second)
		v.isAt(6500 * time.Millisecond)
	})
	play(t, 40, broken+broken, 0, 1, func(v *viewer) {
		v.watch(15 * time.Second)
		if s := v.p.State(); v.at != 10*time.Second || !s.Ended || s.Err == nil {
			t.Errorf("at %v, %+v", v.at, s)
		}
		v.p.Jump(time.Minute)
		v.pull()
		v.p.Jump(-5 * time.Second)
		v.watch(time.Second)
		v.isAt(6 * time.Second)
	})
}
