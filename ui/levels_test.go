package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/slo"
	"sonde/probe/sweep"
)

// fakeLevels is a table that was made by hand.
type fakeLevels struct {
	rows    []level.Level
	replace bool
}

func (l *fakeLevels) Levels() []level.Level { return l.rows }
func (l *fakeLevels) SLOs() []slo.Target    { return nil }
func (l *fakeLevels) Replacing() bool       { return l.replace }
func (l *fakeLevels) Replace(yes bool)      { l.replace = yes }

// fakeSweeper records its commands.
type fakeSweeper struct {
	status sweep.Status
	plan   sweep.Plan
	calls  []string
	err    error
}

func (s *fakeSweeper) Start(p sweep.Plan) error {
	s.calls, s.plan = append(s.calls, "start"), p
	if s.err == nil {
		s.status.State = sweep.Running
	}
	return s.err
}
func (s *fakeSweeper) Stop() { s.calls, s.status.State = append(s.calls, "stop"), sweep.Paused }
func (s *fakeSweeper) Resume() bool {
	s.calls, s.status.State = append(s.calls, "resume"), sweep.Running
	return true
}
func (s *fakeSweeper) Status() sweep.Status { return s.status }

func summary(n int, p50, p95, p99 float64) measure.Summary {
	return measure.Summary{N: n, P50: p50, P95: p95, P99: p99}
}

// row is a settled level of n requests at c streams: TTFT 100, 200, 300 ms, TPOT 10,
// 12, 14 ms, E2E p95 2.5 s.
func row(c, n int, out float64) level.Level {
	r := level.Level{
		Load: frame.Load{Concurrency: c, InputTokens: 1024, OutputTokens: 256, Prefix: "unique"}, Settled: true,
		Rates:  level.Rates{OutTokensPerS: opt.Of(out), InTokensPerS: opt.Of(4 * out), RequestsPerS: opt.Of(out / 256), StreamTokensPerS: opt.Of(100)},
		Engine: level.Engine{KV: opt.Of(0.25), Waiting: opt.Of(2)}, SM: opt.Of(0.9),
	}
	r.OK = n
	r.TTFT, r.TPOT, r.E2E = summary(n, 100, 200, 300), summary(n, 10, 12, 14), summary(n, 2000, 2500, 2600)
	r.E2E.Mean = 1000 * float64(c) / r.RequestsPerS.V // Little's law
	return r
}

// withLevels is the screen with a table of levels over the panels.
func withLevels(rows []level.Level, w, h int) (*model, *fakeLevels) {
	s := newFake(8).play(5 * time.Second)
	m := at(s, w, h)
	l := &fakeLevels{rows: rows}
	m.Levels = l
	press(m, "t")
	return m, l
}

func TestLevelsTableIsShifted(t *testing.T) {
	m, _ := withLevels([]level.Level{row(1, 20, 101), row(8, 400, 1200)}, 80, 24)
	if text := screenOf(m); !strings.Contains(text, "TTFT ms") || strings.Contains(text, "good") {
		t.Errorf("not the first columns:\n%s", text)
	}
	for range 40 { // more often than there are columns
		m.Update(tea.KeyPressMsg{Code: tea.KeyRight})
	}
	text := screenOf(m)
	if !strings.Contains(text, "SLO") || !strings.Contains(text, "load") || strings.Contains(text, "TTFT ms  ") {
		t.Errorf("not the last columns:\n%s", text)
	}
	if l := m.Controls.Load(); l.InputTokens != 1024 {
		t.Errorf("the keys have changed the prompt length to %d", l.InputTokens)
	}
}

func TestLevelsFillEverySize(t *testing.T) {
	for name, rows := range map[string][]level.Level{"none": nil, "one": {row(1, 20, 101)}, "many": {row(1, 5, 1), row(300, 12345, 1e6), row(77, 1, 3)}} {
		m, _ := withLevels(rows, 80, 24)
		for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {250, 70}} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for range 3 {
				if err := checkSize(m.View().Content, size[0], size[1]); err != nil {
					t.Errorf("%s at %v: %v", name, size, err)
				}
				m.Update(tea.KeyPressMsg{Code: tea.KeyRight})
			}
		}
	}
}

func TestRevisitedLevelsAddOrReplaceByKey(t *testing.T) {
	m, l := withLevels(nil, 80, 24)
	if press(m, "a"); !l.replace {
		t.Error("a does not choose to replace")
	}
	if press(m, "a"); l.replace {
		t.Error("a does not choose to add")
	}
}

func TestSweepKey(t *testing.T) {
	s := newFake(4).play(3 * time.Second)
	m := at(s, 120, 40)
	sweeper := &fakeSweeper{}
	m.Sweeper = sweeper
	press(m, "s")
	if p := sweeper.plan; p.Open || p.Load != s.Load() || p.After != s.Load() || p.Cap != 256 {
		t.Errorf("plan %+v", p)
	}
	sweeper.status.Level, sweeper.status.More, sweeper.status.Guess, sweeper.status.Left = 3, 6, true, 95*time.Second
	m.pull(time.Now())
	m.draw()
	if text := screenOf(m); !strings.Contains(text, "sweep 3/~9, 1–3 min left") {
		t.Errorf("no progress in the title:\n%s", text)
	}
	press(m, "s")
	press(m, "s")
	press(m, "S")
	if got := strings.Join(sweeper.calls, " "); got != "start stop resume stop start" {
		t.Errorf("calls %s", got)
	}
	sweeper.status.State = sweep.Done
	m.pull(time.Now())
	m.draw()
	if text := screenOf(m); !strings.Contains(text, "sweep done, the load goes on at ") {
		t.Errorf("the end is not reported:\n%s", text)
	}
	sweeper.err = errors.New("no way")
	press(m, "s")
	if text := screenOf(m); !strings.Contains(text, "cannot sweep: no way") {
		t.Errorf("the refusal is not reported:\n%s", text)
	}
}

func TestSweepOverRates(t *testing.T) {
	s := newFake(4)
	s.load.Rate = 2.5
	m := at(s.play(time.Second), 80, 24)
	sweeper := &fakeSweeper{}
	m.Sweeper = sweeper
	press(m, "s")
	if p := sweeper.plan; !p.Open || p.From != 2.5 || p.Load.Concurrency != 4 {
		t.Errorf("plan %+v", p)
	}
}
