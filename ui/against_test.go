package ui

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/ui/history"
	"sonde/ui/theme"
)

// fakeOther is another run that is there, or not yet.
type fakeOther struct {
	run    *history.Other
	err    error
	unlike []string
}

func (o *fakeOther) Run() (*history.Other, error)  { return o.run, o.err }
func (o *fakeOther) Differs(*frame.Frame) []string { return o.unlike }

// otherRun has 4 streams for 50 s, then 16: at other times than busy.
var otherRun = sync.OnceValue(func() *history.Other {
	s := newFake(4)
	frames := allFrames(s, 50*time.Second)
	l := s.load
	l.Concurrency = 16
	s.SetLoad(l)
	timeline := history.NewTimeline(ColumnWidth)
	for _, f := range full(append(frames, moreFrames(s, 60*time.Second)...)) {
		timeline.Add(f)
	}
	better := func(c, n int, out float64) level.Level {
		r := row(c, n, out)
		r.TTFT, r.TPOT, r.Gap = summary(n, 50, 100, 150), summary(n, 8, 9, 10), summary(n, 8, 12, 30)
		return r
	}
	return history.NewOther("before", []level.Level{better(2, 80, 250), better(4, 150, 500), better(8, 400, 900), better(16, 400, 1540), better(64, 400, 1600)}, timeline)
})

// against is busy beside another run. It pulls at the same moment again: else a slow machine makes it
// silent.
func against(th *theme.Palette) func(w, h int) *model {
	return func(w, h int) *model {
		m := session(w, h, th)
		m.Other = &fakeOther{run: otherRun()}
		m.Levels = &fakeLevels{rows: []level.Level{row(1, 20, 101), row(4, 120, 399), row(8, 400, 800), row(16, 400, 1400)}}
		m.pull(m.lastFrame)
		m.notice = notice{}
		return sized(m, w, h)
	}
}

func unlike(w, h int) *model {
	m := against(newTestTheme())(w, h)
	m.Other.(*fakeOther).unlike = []string{"model: Llama-3.1-8B there, Qwen3-32B here"}
	m.pull(m.lastFrame)
	return sized(m, w, h)
}

func TestTheOtherRunIsAlignedByTimeOrByLoad(t *testing.T) {
	m := against(newTestTheme())(120, 40)
	if s := screenOf(m); !strings.Contains(s, "vs before  by time") {
		t.Fatal(s)
	}
	press(m, "C")
	s := screenOf(m)
	// At 16 streams it had a TTFT of 50 and 100 ms, a TPOT of 8 and 9 ms.
	for _, want := range []string{"vs before  by load", "vs 50.0 100", "p95 15.0 vs 8.00", "vs 8.00  30.0", "vs 1.54k"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is missing in\n%s", want, s)
		}
	}
	press(m, "C")
	if !strings.Contains(screenOf(m), "by time") {
		t.Error("a second key does not lead back")
	}
}

func TestASummaryIsAlignedByLoadOnly(t *testing.T) {
	m := against(newTestTheme())(120, 40)
	m.Other = &fakeOther{run: history.NewOther("summary", otherRun().Levels, nil)}
	m.pull(m.lastFrame)
	press(m, "C")
	m.notice = notice{}
	if s := screenOf(m); !strings.Contains(s, "vs summary") || !strings.Contains(s, "by load") {
		t.Error(s)
	}
}

// Ours has TTFT p95 200 and 400 → 1 400 tokens/s; theirs 100 and 1 540: +100 % and −9 %.
func TestTheTableHasTheDifferenceInPercent(t *testing.T) {
	m := against(newTestTheme())(120, 40)
	press(m, "t")
	lines := strings.Split(screenOf(m), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "│   16 ") || strings.HasPrefix(l, "│›  16 ") {
			if got := lines[i+2]; !strings.Contains(got, "+100%") || !strings.Contains(got, "-9%") {
				t.Error(got)
			}
			if got := lines[i+1]; !strings.Contains(got, "vs 400") || !strings.Contains(got, "1.5k") {
				t.Error(got)
			}
			return
		}
	}
	t.Error(screenOf(m))
}

func TestWithoutAnotherRunTheKeySaysHowToGetOne(t *testing.T) {
	m := busy(120, 40)
	press(m, "C")
	if s := screenOf(m); !strings.Contains(s, "--against FILE") {
		t.Error(s)
	}
	m.Other = &fakeOther{}
	m.pull(m.lastFrame)
	if press(m, "C"); !strings.Contains(screenOf(m), "still being read") {
		t.Error(screenOf(m))
	}
	m.Other = &fakeOther{err: errors.New("the disk is gone")}
	m.pull(m.lastFrame)
	if m.draw(); !strings.Contains(screenOf(m), "cannot be shown: the disk is gone") {
		t.Error(screenOf(m))
	}
}

// A jump in a recording begins a new History; where its load began is still known.
func TestAJumpKeepsTheAlignment(t *testing.T) {
	frames := allFrames(newFake(4), 60*time.Second)
	m, p, _ := replayed(frames, 30*time.Second)
	before, _ := m.live.History.LoadBegan()
	p.state.Epoch++
	m.beginAnew()
	if after, known := m.live.History.LoadBegan(); !known || after != before {
		t.Errorf("%v, was %v", after, before)
	}
}
