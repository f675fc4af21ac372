package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"sonde/probe/bench"
	"sonde/probe/compare"
	"sonde/probe/frame"
	"sonde/probe/guard"
	"sonde/probe/level"
	"sonde/probe/plain"
	"sonde/probe/record"
	"sonde/probe/report"
	"sonde/ui/history"
)

// Against is another run that the screen shows beside its own. A recording is read once, in
// the background; of a file of results no more than its levels is known.
type Against struct {
	name string

	mu   sync.Mutex
	run  *history.Other // nil: not read yet
	like compare.Run    // what was measured in it
	err  error          // why it cannot be read

	differs differs // of the newest load that was asked about
}

// differs belongs to the screen.
type differs struct {
	run   *history.Other
	load  frame.Load
	model string
	there string // model of a second endpoint; "" with a run, whose model is its own
	says  []string
}

// OpenAgainst checks the file at path and begins to read it, until ctx ends. An unusable file
// is a usage error.
func OpenAgainst(ctx context.Context, path string, column time.Duration) (*Against, error) {
	a := &Against{name: shortNames([]string{path})[0]}
	recorded, err := isRecording(path)
	if err != nil {
		return nil, Usage(fmt.Errorf("--against %s: %w", path, err))
	}
	if !recorded {
		results, err := readRun(ctx, path)
		if err != nil {
			return nil, Usage(fmt.Errorf("--against %s: %w", path, err))
		}
		a.done(results, results.AllLevels(), nil)
		return a, nil
	}
	file, err := record.Open(path)
	if err != nil {
		return nil, Usage(fmt.Errorf("--against %w", err))
	}
	guard.Go("reading the other recording", a.fail, func() {
		defer file.Close()
		a.read(ctx, file, column)
	})
	return a, nil
}

func (a *Against) read(ctx context.Context, file *record.File, column time.Duration) {
	timeline := history.NewTimeline(column)
	levels := level.NewBook(recordedSLOs(file))
	keeper := bench.NewKeeper(bench.Plan{Seed: file.Header().Seed, SLOs: levels.SLOs()}, levels, levels.Add)
	err := eachFrame(ctx, file, func(f *frame.Frame) {
		timeline.Add(f)
		keeper.Add(f)
	})
	if err != nil {
		a.fail(err)
		return
	}
	sweep := keeper.Sweep()
	a.done(&report.File{SweepSummary: report.NewSweep(&sweep)}, levels.Levels(), timeline)
}

// eachFrame reads a whole recording, or up to what is damaged at its end.
func eachFrame(ctx context.Context, file *record.File, take func(*frame.Frame)) error {
	first, _ := file.Span()
	frames, err := file.From(ctx, first)
	for err == nil {
		var f *frame.Frame
		if f, err = frames.Next(); err == nil {
			take(f)
			err = ctx.Err()
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, record.ErrDamaged) {
		return fmt.Errorf("the recording: %w", err)
	}
	return nil
}

func (a *Against) done(results *report.File, levels []level.Level, timeline *history.Timeline) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run = history.NewOther(a.name, levels, timeline)
	a.like = compare.Run{Name: a.name, File: results}
	if len(results.Levels) == 0 {
		results.Levels = results.Others
	}
}

func (a *Against) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = plain.Cause(err)
}

// Run is the other run; nil until it has been read.
func (a *Against) Run() (*history.Other, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.run, a.err
}

// Differs is why figures at the load of a Frame answer other questions than those of the other
// run, such as "model: llama there, qwen here". One goroutine asks.
func (a *Against) Differs(f *frame.Frame) []string {
	a.mu.Lock()
	run, like := a.run, a.like
	a.mu.Unlock()
	if run == nil {
		return nil
	}
	return a.differs.of(differs{run: run, load: f.Load.Requested, model: f.Engine.Identity.Model}, f, func() compare.Run { return like })
}

// of compares the work of a Frame with that of the other run, if what is compared has changed.
func (d *differs) of(now differs, f *frame.Frame, like func() compare.Run) []string {
	if now.load.Concurrency == 0 {
		return nil
	}
	if now.run == d.run && now.load == d.load && now.model == d.model && now.there == d.there {
		return d.says
	}
	for _, x := range compare.Unlike(like(), asRun(f)) {
		now.says = append(now.says, fmt.Sprintf("%s: %s there, %s here", strings.ReplaceAll(x.Kind, "_", " "), x.Before[0], x.After[0]))
	}
	*d = now
	return d.says
}

// asRun is a run of which no more than its load and its target is known.
func asRun(f *frame.Frame) compare.Run {
	l := level.Level{Load: f.Load.Requested, Sources: level.Sources{Target: f.Target, Identity: f.Engine.Identity}}
	s := report.New(&bench.Outcome{Level: l})
	file := &report.File{Single: true}
	file.Run, file.Levels = s.Run, []report.Level{{Summary: s}}
	return compare.Run{Name: "here", File: file}
}

// LoadBegan is when the load of a recording began; 0 if it is not found within its first
// minutes.
func (r *Recording) LoadBegan(ctx context.Context) time.Duration {
	const within = 10 * time.Minute
	var began time.Duration
	file, err := record.Open(r.path) // the Player reads the other one
	if err != nil {
		return 0
	}
	defer file.Close()
	first, _ := file.Span()
	ctx, found := context.WithCancel(ctx)
	defer found()
	_ = eachFrame(ctx, file, func(f *frame.Frame) {
		switch {
		case history.HasLoad(f):
			began = f.At - f.Slice
			found()
		case f.At-first > within:
			found()
		}
	})
	return began
}
