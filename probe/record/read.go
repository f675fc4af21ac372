package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sonde/gpu"
	"sonde/probe"
	"sonde/probe/engine"
)

// Read reads a recording. A torn last line, as a crash or a full disk leaves it,
// is ignored, and so are requests whose Frame is missing. Any other fault gives
// an error that names the line, with the Frames before it.
func Read(r io.Reader) (Header, []*probe.Frame, error) {
	d := decoder{in: bufio.NewReaderSize(r, buffer)}
	if err := d.header(); err != nil {
		return Header{}, nil, err
	}
	for {
		line, last, err := d.next()
		if err != nil {
			return d.head, d.frames, err
		}
		if err := d.take(line); err != nil && !last {
			return d.head, d.frames, fmt.Errorf("line %d of the recording: %w", d.number, err)
		}
		if last {
			return d.head, d.frames, nil
		}
	}
}

// decoder puts lines together into Frames.
type decoder struct {
	in     *bufio.Reader
	number int // of the current line

	head     Header
	frames   []*probe.Frame
	requests []probe.Request // of the Frame that comes next
	target   probe.Target
	engine   engine.Status
	gpu      gpu.Status
}

// next gives the next line, and whether it is the last one.
func (d *decoder) next() (line []byte, last bool, err error) {
	line, err = d.in.ReadBytes('\n')
	d.number++
	if errors.Is(err, io.EOF) {
		return bytes.TrimSpace(line), true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("line %d of the recording: %w", d.number, err)
	}
	_, err = d.in.Peek(1)
	return bytes.TrimSpace(line), errors.Is(err, io.EOF), nil
}

func (d *decoder) header() error {
	line, _, err := d.next()
	if err != nil {
		return err
	}
	var h headerLine
	if json.Unmarshal(line, &h) != nil || h.Type != typeHeader {
		return errors.New("this is no recording of sonde: its first line is no header")
	}
	if h.Schema != Schema {
		return fmt.Errorf("this recording has the form %q, this program reads %q", h.Schema, Schema)
	}
	d.head = h.Header
	return nil
}

// take reads one line after the header. Types that are not known are left to
// programs that know them.
func (d *decoder) take(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case typeRequest:
		var l requestLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		d.requests = append(d.requests, l.request())
	case typeFrame:
		var l frameLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		d.addFrame(&l)
	}
	return nil
}

func (d *decoder) addFrame(l *frameLine) {
	if l.Target != nil {
		d.target = probe.Target(*l.Target)
	}
	if l.Engine != nil {
		d.engine = l.Engine.status()
	}
	if l.GPU != nil {
		d.gpu = l.GPU.status()
	}
	f := l.frame()
	f.Target, f.Engine, f.GPU, f.Requests = d.target, d.engine, d.gpu, d.requests
	d.requests = nil
	d.frames = append(d.frames, f)
}
