package record

import (
	"bytes"
	"errors"
	"os"
	"slices"
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
		"gzip":         {"\x1f\x8b\x08\x00", "gzip -dc", 0},
		"UTF-16":       {"\xff\xfe{\x00", "UTF-16", 0},
		"broken end":   {lines[0] + lines[1] + "{\"type\n{}}\n", "damaged from line 3 on", 1},
		"two files":    {good + good, "another recording begins at line 4", 2},
	} {
		_, frames, err := Read(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.says) || len(frames) != c.frames {
			t.Errorf("%s: %d frames, error %v", name, len(frames), err)
		}
	}
}

// What is left out is an event of the next Frame and a note on the target, with its number of
// lines and its times. Three Frames are 60, 120 and 180 s after the start.
func TestReadingGoesOnAfterDamage(t *testing.T) {
	at := func(seq uint64) *frame.Frame { return &frame.Frame{Seq: seq, At: time.Duration(seq) * time.Minute} }
	good := string(record(t, at(1), at(2), at(3)))
	lines := strings.SplitAfter(good, "\n") // a header and three Frames
	second := " of the recording left out from 00:01:00 to 00:03:00"
	for name, c := range map[string]struct {
		file   string
		frames []uint64
		says   string
	}{
		"byte-order mark":          {"\xef\xbb\xbf" + good, []uint64{1, 2, 3}, ""},
		"garbage":                  {lines[0] + lines[1] + "\x80\x01{\n}}\n" + lines[3], []uint64{1, 3}, "2 damaged lines" + second},
		"a value of another type":  {lines[0] + lines[1] + strings.Replace(lines[2], `"load":{`, `"load":7,"x":{`, 1) + lines[3], []uint64{1, 3}, "1 damaged line" + second},
		"cut within a line":        {lines[0] + lines[1] + lines[2][:40] + lines[3], []uint64{1, 3}, "1 damaged line" + second},
		"zeros of a power cut":     {lines[0] + lines[1] + strings.Repeat("\x00", 100_000) + lines[3], []uint64{1, 3}, "1 damaged line" + second},
		"a Frame that comes again": {lines[0] + lines[1] + lines[1] + lines[3], []uint64{1, 3}, "1 damaged line" + second},
		"a header cut off":         {good[len(lines[0]):], []uint64{1, 2, 3}, "1 damaged line of the recording left out from the start to 00:01:00"},
		"a damaged header":         {"\x00\x00\n" + good[len(lines[0]):], []uint64{1, 2, 3}, "1 damaged line of the recording left out from the start to 00:01:00"},
	} {
		_, frames, err := Read(strings.NewReader(c.file))
		var seqs []uint64
		var says []string
		for _, f := range frames {
			seqs = append(seqs, f.Seq)
			for _, e := range f.Events {
				says = append(says, e.Text)
			}
		}
		if err != nil || !slices.Equal(seqs, c.frames) || strings.Join(says, "") != c.says {
			t.Errorf("%s: Frames %v, %q, %v", name, seqs, says, err)
			continue
		}
		if !slices.Equal(frames[len(frames)-1].Target.Notes, says) {
			t.Errorf("%s: the last Frame has the notes %q", name, frames[len(frames)-1].Target.Notes)
		}
	}
}

// Whatever a file holds, reading it ends, and its Frames are in order.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/sim.jsonl", "testdata/every_field.jsonl"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[:min(len(raw), 4<<10)])
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, frames, _ := Read(bytes.NewReader(raw))
		for i, f := range frames {
			if i > 0 && f.Seq <= frames[i-1].Seq {
				t.Fatalf("Frame %d follows Frame %d", f.Seq, frames[i-1].Seq)
			}
		}
	})
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
