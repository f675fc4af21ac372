//go:build unix

package ui

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"sonde/probe/frame"
	"sonde/ui/theme"
)

// mostBytesPerS is what the screen may write at 120×40 with 16 streams. Of a core it
// should take 6 %, which BenchmarkScreen tells.
const mostBytesPerS = 8 * 1024

// BenchmarkScreen plays 16 streams into the real renderer in real time and
// reports what the screen writes and burns per second.
func BenchmarkScreen(b *testing.B) {
	frames := recorded(60*time.Second, 70*time.Second)
	for range b.N {
		bytesPerS, cpu := screenCost(frames, 60*4, 8*time.Second)
		b.ReportMetric(bytesPerS, "bytes/s")
		b.ReportMetric(100*cpu, "%cpu")
	}
}

// TestBytesWritten holds the screen to its budget on the wire, in virtual time: what is
// drawn depends on the Frames and the clock alone. CPU is only benchmarked.
func TestBytesWritten(t *testing.T) {
	frames := recorded(60*time.Second, 64*time.Second)
	synctest.Test(t, func(t *testing.T) {
		bytesPerS, _ := screenCost(frames, 60*4, 3*time.Second)
		time.Sleep(2 * refreshEvery) // the last tick ends by its timer, not by the program's end
		if bytesPerS > mostBytesPerS {
			t.Errorf("the screen writes %.0f bytes/s, more than %d", bytesPerS, mostBytesPerS)
		}
		if bytesPerS < 100 {
			t.Errorf("the screen writes %.0f bytes/s: it does not move", bytesPerS)
		}
	})
}

// recorded plays a source beforehand, so that only the screen costs anything
// later. A long prompt comes within the measured time.
func recorded(warm, all time.Duration) []*frame.Frame {
	s := newFake(16)
	var frames []*frame.Frame
	var seq uint64
	for s.now < all {
		if s.now == warm+time.Second {
			s.FireLong()
		}
		s.play(fakeSlice)
		for _, f := range s.Since(seq) {
			frames, seq = append(frames, f), f.Seq
		}
	}
	return frames
}

// screenCost runs the real program for a while and measures it from its second
// second on, when the first full picture is out.
func screenCost(frames []*frame.Frame, warm int, d time.Duration) (bytesPerS, cpu float64) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out counter
	m := newModel(Options{Frames: &playback{frames: frames, given: warm}, Judge: &fakeJudge{}}, theme.New(colorprofile.ANSI256, false))
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(&out), tea.WithFPS(framesPerSecond),
		tea.WithWindowSize(120, 40), tea.WithColorProfile(colorprofile.ANSI256), tea.WithoutSignalHandler())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.Run() // ends by the context
	}()
	time.Sleep(time.Second)
	bytes, burnt, began := out.n.Load(), cpuTime(), time.Now()
	time.Sleep(d)
	seconds := time.Since(began).Seconds()
	bytesPerS = float64(out.n.Load()-bytes) / seconds
	cpu = (cpuTime() - burnt).Seconds() / seconds
	cancel()
	<-done
	return bytesPerS, cpu
}

type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
