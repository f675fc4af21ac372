package record

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

func TestTornLastLine(t *testing.T) {
	raw := record(t, &frame.Frame{Seq: 1}, &frame.Frame{Seq: 2, Requests: []measure.Request{{ID: 9}}})
	whole := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
	for _, cut := range []int{whole, whole + 1, whole + 40, len(raw) - 2} {
		_, frames, err := Read(bytes.NewReader(raw[:cut]))
		if err != nil || len(frames) != 1 || frames[0].Seq != 1 {
			t.Errorf("cut at %d of %d: %d frames, %v", cut, len(raw), len(frames), err)
		}
	}
	// Only the line's end is missing: all of it is there.
	if _, frames, err := Read(bytes.NewReader(raw[:len(raw)-1])); err != nil || len(frames) != 2 {
		t.Errorf("%d frames, %v", len(frames), err)
	}
	// A crash of the machine can leave zeros behind.
	zeros := append(bytes.Clone(raw), 0, 0, 0)
	if _, frames, err := Read(bytes.NewReader(zeros)); err != nil || len(frames) != 2 {
		t.Errorf("%d frames, %v", len(frames), err)
	}
}

func TestBrokenFiles(t *testing.T) {
	good := string(record(t, &frame.Frame{Seq: 1}, &frame.Frame{Seq: 2}))
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct {
		file, says string
		frames     int
	}{
		"empty":        {"", "not a header", 0},
		"another file": {"hello\n", "not a header", 0},
		"other form":   {strings.Replace(good, Schema, "sonde/record/9", 1), "sonde/record/9", 0},
		"broken line":  {lines[0] + lines[1] + "{\"type\n" + lines[2], "line 3", 1},
	} {
		_, frames, err := Read(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.says) || len(frames) != c.frames {
			t.Errorf("%s: %d frames, error %v", name, len(frames), err)
		}
	}
}

func TestUnknownLinesAreLeftOut(t *testing.T) {
	raw := record(t, &frame.Frame{Seq: 1})
	raw = append(raw, "{\"type\":\"remark\",\"text\":\"x\"}\n\n"...)
	raw = append(raw, bytes.SplitAfter(record(t, &frame.Frame{Seq: 2}), []byte("\n"))[1]...)
	if _, frames, err := Read(bytes.NewReader(raw)); err != nil || len(frames) != 2 {
		t.Errorf("%d frames, %v", len(frames), err)
	}
}

// disk is a file that is full after some bytes, or slow.
type disk struct {
	sync.Mutex
	bytes.Buffer
	room  int
	block chan struct{}
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(p []byte) (int, error) {
	if d.block != nil {
		<-d.block
	}
	d.Lock()
	defer d.Unlock()
	if d.room -= len(p); d.room < 0 {
		return 0, errFull
	}
	return d.Buffer.Write(p)
}

func (d *disk) size() int {
	d.Lock()
	defer d.Unlock()
	return d.Len()
}

func (*disk) Close() error { return nil }

func TestAFullDiskIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWriter(&disk{room: 10}, Header{})
		for seq := range uint64(5) {
			w.Add(&frame.Frame{Seq: seq})
			time.Sleep(2 * time.Second)
		}
		select {
		case err := <-w.Failed():
			if !errors.Is(err, errFull) {
				t.Errorf("reported %v", err)
			}
		default:
			t.Fatal("nothing was reported")
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("Close says %v", err)
		}
		if len(w.Failed()) != 0 {
			t.Error("reported twice")
		}
	})
}

func TestFlushedWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: 1 << 20}
		w := NewWriter(d, Header{})
		w.Add(&frame.Frame{Seq: 1})
		time.Sleep(flushEvery + time.Millisecond)
		synctest.Wait()
		if _, frames, err := Read(bytes.NewReader(d.Bytes()[:d.size()])); err != nil || len(frames) != 1 {
			t.Errorf("%d frames, %v", len(frames), err)
		}
		w.Close()
	})
}

func TestASlowDiskHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: 64 << 20, block: make(chan struct{})}
		w := NewWriter(d, Header{})
		time.Sleep(2 * time.Second) // the flush of the header now hangs
		const sent = backlog + 44
		for seq := range uint64(sent) {
			w.Add(&frame.Frame{Seq: seq})
		}
		close(d.block)
		synctest.Wait()
		w.Add(&frame.Frame{Seq: sent})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, frames, err := Read(bytes.NewReader(d.Bytes()))
		if err != nil || len(frames) != backlog+1 || frames[backlog].Seq != sent {
			t.Errorf("%d frames, %v", len(frames), err)
		}
		if !strings.Contains(d.String(), `"lost_frames":44`) {
			t.Error("the file does not tell what it lost")
		}
	})
}

func TestCloseTwiceAndAddAfter(t *testing.T) {
	w := NewWriter(&memory{}, Header{})
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	w.Add(&frame.Frame{})
}
