package record

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/plain"
)

const (
	// flushEvery bounds what a crash can lose.
	flushEvery = time.Second
	// backlog is how many Frames may wait for a slow disk: a minute's worth.
	backlog = 256
	buffer  = 64 << 10
)

// Writer records Frames in a goroutine of its own. It never holds up the run:
// when the disk cannot keep up Frames are dropped, and the file says how many;
// when writing fails the recording ends there.
type Writer struct {
	frames chan *frame.Frame
	stop   chan struct{}
	done   chan struct{} // closed when everything is written
	failed chan error
	lost   atomic.Int64
	once   sync.Once

	// Of the goroutine; err may be read once done is closed.
	file io.WriteCloser
	out  *bufio.Writer
	last *frame.Frame
	err  error
}

// NewWriter starts a recording with its header. The Writer closes w.
func NewWriter(w io.WriteCloser, header Header) *Writer {
	r := &Writer{
		frames: make(chan *frame.Frame, backlog),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
		failed: make(chan error, 1),
		file:   w,
		out:    bufio.NewWriterSize(w, buffer),
	}
	guard.Go("recording", r.fail, func() {
		defer close(r.done)
		defer guard.Catch("recording", r.fail)
		r.run(header)
	})
	return r
}

// Add records a Frame. It never blocks. Frames after Close are ignored.
func (w *Writer) Add(f *frame.Frame) {
	select {
	case w.frames <- f:
	default:
		w.lost.Add(1)
	}
}

// Failed gets the error that ended the recording, once.
func (w *Writer) Failed() <-chan error { return w.failed }

// Close writes what is left and closes the file. It returns the error that ended
// the recording, if any, and may be called again.
func (w *Writer) Close() error {
	w.once.Do(func() { close(w.stop) })
	<-w.done
	return w.err
}

func (w *Writer) run(header Header) {
	w.line(json.Marshal(headerLine{Type: typeHeader, Schema: Schema, Header: header}))
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case f := <-w.frames:
			w.frame(f)
		case <-tick.C:
			w.flush()
		case <-w.stop:
			w.finish()
			return
		}
	}
}

// finish empties the backlog and closes the file.
func (w *Writer) finish() {
	for len(w.frames) > 0 {
		w.frame(<-w.frames)
	}
	w.flush()
	if err := w.file.Close(); err != nil {
		w.fail(err)
	}
}

type headerLine struct {
	Type   string `json:"type"`
	Schema string `json:"schema"`
	Header
}

// frame writes a Frame's requests, then the Frame with what changed in it.
func (w *Writer) frame(f *frame.Frame) {
	for i := range f.Requests {
		w.line(marshal(fromRequest(&f.Requests[i])))
	}
	l := &frameLine{Type: typeFrame, Frame: *f, Lost: w.lost.Swap(0)}
	if f.Err != nil {
		l.Err = f.Err.Error()
	}
	if w.last == nil || !reflect.DeepEqual(f.Target, w.last.Target) {
		l.Target = &f.Target
	}
	if w.last == nil || !reflect.DeepEqual(f.Engine, w.last.Engine) {
		l.Engine = fromEngine(&f.Engine)
	}
	if w.last == nil || !reflect.DeepEqual(f.GPU, w.last.GPU) {
		l.GPU = fromGPU(f.GPU)
	}
	w.line(marshal(l))
	w.last = f
}

// line writes one line, unless the recording has ended.
func (w *Writer) line(raw []byte, err error) {
	if w.err != nil {
		return
	}
	if err == nil {
		_, err = w.out.Write(append(plain.EscapeJSON(raw), '\n'))
	}
	if err != nil {
		w.fail(err)
	}
}

func (w *Writer) flush() {
	if w.err != nil {
		return
	}
	if err := w.out.Flush(); err != nil {
		w.fail(err)
	}
}

// fail ends the recording and reports it once.
func (w *Writer) fail(err error) {
	if w.err != nil {
		return
	}
	w.err = fmt.Errorf("the recording ends here, the run goes on: %w", err)
	w.failed <- w.err
}
