// Package replay plays a recording: it hands out its Frames at the pace at which
// they were made, or another, to the same readers that a live session has.
package replay

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/record"
)

// ahead is how many Frames are read before they are due. At the usual tick it is
// a minute, and bounds what a busy recording takes in memory.
const ahead = 256

// lead is how much of the recording before the goal of a jump is handed out as
// well, so that charts and verdicts have a past there.
const lead = 2 * time.Minute

// The range of speeds.
const (
	slowest = 1.0 / 8
	fastest = 64
)

// Player is the Frames of a recording and the Playback of them. Any goroutine may
// use it; there is one reader of its Frames.
type Player struct {
	file *record.File
	wake chan struct{} // something changed for the goroutine that reads

	mu    sync.Mutex
	clock clock
	queue []*frame.Frame // read and not yet acknowledged, in order
	state frame.PlaybackState
	goal  *time.Duration // of a jump that the reading goroutine has not taken up
	eof   bool           // nothing comes after the queue
}

// Play begins to play the file at a moment of the recording. The Player reads
// until ctx ends; closing the file is left to the caller, after done is closed.
func Play(ctx context.Context, file *record.File, at time.Duration, speed float64) (p *Player, done <-chan struct{}) {
	first, last := file.Span()
	p = &Player{file: file, wake: make(chan struct{}, 1)}
	at = min(max(at, first), last)
	p.goal = &at
	p.clock = clock{at: at, speed: withinRange(speed), since: time.Now()}
	p.state = frame.PlaybackState{At: first, Last: last, Seeking: true}
	ended := make(chan struct{})
	guard.Go("reading the recording", p.fail, func() {
		defer close(ended)
		defer guard.Catch("reading the recording", p.fail)
		p.read(ctx)
	})
	return p, ended
}

func withinRange(speed float64) float64 {
	if !(speed >= slowest) {
		return slowest
	}
	return min(speed, fastest)
}

// Since hands out the Frames after seq that are due. Those up to seq are let go.
func (p *Player) Since(seq uint64) []*frame.Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := 0
	for old < len(p.queue) && p.queue[old].Seq <= seq {
		old++
	}
	clear(p.queue[:old]) // the array stays, the Frames need not
	p.queue = p.queue[old:]
	now := p.clock.now()
	n := 0
	for n < len(p.queue) && p.queue[n].At <= now {
		n++
	}
	if n > 0 {
		p.state.At = p.queue[n-1].At
		p.state.Last = max(p.state.Last, p.state.At) // a file that is still written
	}
	p.follow(n)
	p.nudge()
	return slices.Clone(p.queue[:n])
}

// follow keeps the clock at what has been read: it does not run on while the next
// Frame is still being read, nor after the end.
func (p *Player) follow(due int) {
	more := due < len(p.queue)
	switch {
	case more:
		p.state.Seeking = false
	case p.eof:
		p.state.Seeking = false
		p.clock.hold(min(p.clock.now(), max(p.state.At, p.clock.at)))
	default:
		p.clock.hold(max(p.state.At, p.clock.at))
	}
	p.state.Ended = p.eof && !more && p.goal == nil
}

// nudge wakes the reading goroutine.
func (p *Player) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// read fills the queue until ctx ends.
func (p *Player) read(ctx context.Context) {
	var from *record.Reader
	for epoch := 0; ; {
		goal, room, now := p.wanted()
		switch {
		case goal != nil:
			epoch = now
			reader, err := p.file.From(ctx, *goal-lead)
			if ctx.Err() != nil {
				return
			}
			if from = reader; err != nil {
				p.end(epoch, err)
			}
		case room && from != nil:
			frame, err := from.Next()
			if err != nil {
				from = nil
				p.end(epoch, err)
				continue
			}
			p.add(epoch, frame)
		default:
			select {
			case <-ctx.Done():
				return
			case <-p.wake:
			}
		}
	}
}

// wanted returns what the reading goroutine is to do: take up a jump, or read on.
func (p *Player) wanted() (goal *time.Duration, room bool, epoch int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	goal, p.goal = p.goal, nil
	return goal, len(p.queue) < ahead, p.state.Epoch
}

// add queues a Frame that was read, unless a jump has made it obsolete.
func (p *Player) add(epoch int, f *frame.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if epoch == p.state.Epoch && p.goal == nil {
		p.queue = append(p.queue, f)
	}
}

// end notes that nothing more comes, and why if reading failed.
func (p *Player) end(epoch int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if epoch != p.state.Epoch || p.goal != nil {
		return
	}
	p.eof = true
	if !errors.Is(err, io.EOF) {
		p.state.Err = err
	}
	if n := len(p.queue); n > 0 && errors.Is(err, record.ErrDamaged) { // a later Frame is of another recording
		p.state.Last = p.queue[n-1].At
	}
}

// fail takes a panic of the reading goroutine.
func (p *Player) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eof, p.state.Err = true, err
}
