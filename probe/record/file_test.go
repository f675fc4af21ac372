package record

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// onDisk writes a recording into a file and opens it.
func onDisk(t *testing.T, raw []byte) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// recordAll is record for more Frames than wait for a slow disk.
func recordAll(t *testing.T, frames ...*frame.Frame) []byte {
	t.Helper()
	file := &memory{}
	w := NewWriter(file, Header{URL: "http://h/v1"})
	for _, f := range frames {
		w.frames <- f
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// changing makes Frames four times a second, whose target, engine and GPU change
// now and then, and that have texts which look like the keys of a line.
func changing(n int) []*frame.Frame {
	r := rand.New(rand.NewPCG(3, 4))
	var frames []*frame.Frame
	now := frame.Frame{}
	for i := range n {
		if r.IntN(400) == 0 {
			now.Target.Notes = append(now.Target.Notes[:len(now.Target.Notes):len(now.Target.Notes)], `,"engine":{ in a text`)
		}
		if r.IntN(60) == 0 {
			now.Engine.Have, now.Engine.Reading.Running = true, opt.Of(float64(i))
		}
		if r.IntN(90) == 0 {
			now.GPU.Source = strings.Repeat("x", 1+r.IntN(9))
		}
		f := now
		f.Seq, f.At, f.Slice = uint64(i+1), time.Duration(i+1)*250*time.Millisecond, 250*time.Millisecond
		for k := range r.IntN(3) {
			f.Requests = append(f.Requests, measure.Request{ID: uint64(10*i + k), GapsMS: []float32{1}})
		}
		frames = append(frames, &f)
	}
	return frames
}

// From wherever one begins, what follows is what reading from the start gives.
func TestReadingFromAnywhereIsReadingOn(t *testing.T) {
	raw := recordAll(t, changing(1200)...)
	f := onDisk(t, raw)
	_, all, err := Read(strings.NewReader(string(raw)))
	if err != nil || len(all) != 1200 {
		t.Fatal(len(all), err)
	}
	if first, last := f.Span(); first != all[0].At || last != all[1199].At {
		t.Errorf("from %v to %v", first, last)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 8 {
		at := time.Duration(r.Int64N(int64(320 * time.Second)))
		reader, err := f.From(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		frame, err := reader.Next()
		if errors.Is(err, io.EOF) && at >= 295*time.Second {
			continue
		}
		if err != nil || frame.At > max(at, all[0].At) && frame.At-250*time.Millisecond >= at || frame.At < min(at, 300*time.Second)-6*time.Second {
			t.Fatalf("from %v: first Frame %v, %v", at, frame, err)
		}
		for i := frame.Seq - 1; ; i++ {
			if !reflect.DeepEqual(frame, all[i]) {
				t.Fatalf("from %v: Frame %d differs:\n%+v\n%+v", at, i+1, frame, all[i])
			}
			if frame, err = reader.Next(); errors.Is(err, io.EOF) {
				if i != 1199 {
					t.Fatalf("ends after %d", i)
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Wherever a crash cut the file off, its span ends with the last whole Frame.
func TestTheSpanOfATornFile(t *testing.T) {
	raw := record(t, changing(30)...)
	for cut := len(raw); cut > len(raw)-900; cut -= 31 {
		_, frames, err := Read(strings.NewReader(string(raw[:cut])))
		if err != nil {
			t.Fatal(err)
		}
		if _, last := onDisk(t, raw[:cut]).Span(); last != frames[len(frames)-1].At {
			t.Fatalf("cut at %d of %d: last %v, want %v", cut, len(raw), last, frames[len(frames)-1].At)
		}
	}
}

// A Frame may be longer than the tail that is searched first.
func TestALastFrameOfMegabytes(t *testing.T) {
	frames := changing(3)
	frames[2].Client.SliceGaps = make([]float32, 600_000)
	if _, last := onDisk(t, record(t, frames...)).Span(); last != frames[2].At {
		t.Errorf("last %v", last)
	}
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	head, _, _ := strings.Cut(string(record(t)), "\n")
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "none cannot be read: no such file or directory",
		dir:                        "not a regular file",
		write("empty", ""):         "empty: not a sonde recording",
		write("text", "hello\n"):   "text: not a sonde recording",
		write("summary", "{\n  \"schema\": \"sonde/summary/1\""):  "summary: not a sonde recording",
		write("head", head+"\n"):                                  "head: the recording has no frames",
		write("torn", head+"\n{\"type\":\"frame\",\"seq\":1,\"a"): "torn: the recording has no frames",
		write("other", strings.Replace(head, Schema, "x/9", 1)):   `other: the recording has the format "x/9"`,
		write("zeros", strings.Repeat("\x00", 2<<20)):             "zeros: not a sonde recording",
	} {
		f, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", want, f, err)
		}
	}
}
