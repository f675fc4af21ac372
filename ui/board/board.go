// Package board is the screen of a canary: a row for each target, the worst first, and
// everything that is known of one.
package board

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/canary"
	"sonde/probe/guard"
	"sonde/ui"
	"sonde/ui/theme"
)

// Options are what the screen shows.
type Options struct {
	Rows   func() []canary.Row // those of all targets, always in the same order
	PerDay int                 // tokens that all targets cost in a day at most
	Serves string              // address of the metrics; "" if there is none
}

// Run shows the screen until its user quits or ctx ends, as ui.Run does.
func Run(ctx context.Context, t ui.Terminal, o Options) error {
	return ui.Show(ctx, t, func(p *theme.Palette) ui.Screen { return newModel(o, p) })
}

// refreshEvery is how often the screen looks at the rows: probes are seconds apart.
const refreshEvery = time.Second

// model is the root of the screen.
type model struct {
	Options
	theme *theme.Palette
	began time.Time

	now      time.Time
	rows     []canary.Row // the worst first
	order    []int        // index of each among those of Options.Rows
	selected int          // the same, of the chosen target; −1: whichever is the worst
	view     view
	scrolled int // lines of a text above its first visible one
	w, h     int

	generation int // of the chain of ticks; older ones are dropped
	content    string
	replied    bool
	err        error
}

// view is what lies on the screen.
type view int

const (
	viewRows view = iota
	viewDetails
	viewHelp
)

func newModel(o Options, t *theme.Palette) *model {
	m := &model{Options: o, theme: t, began: time.Now(), selected: -1}
	m.pull(m.began)
	return m
}

type tickMsg struct{ generation int }

// Init starts the chain of ticks.
func (m *model) Init() tea.Cmd { return func() tea.Msg { return tickMsg{m.generation} } }

// Update is a router: every message has one method.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = m
	defer guard.Catch("canary's screen", func(err error) { m.err, cmd = err, tea.Quit })
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.KeyPressMsg:
		cmd = m.press(msg.Key())
	case tickMsg:
		if msg.generation != m.generation {
			return m, nil
		}
		m.pull(time.Now())
		cmd = m.nextTick()
	case tea.ResumeMsg:
		m.generation++
		cmd = tea.Batch(tea.ClearScreen, m.nextTick())
	case tea.KeyboardEnhancementsMsg:
		m.replied = true
		return m, nil
	default:
		return m, nil
	}
	m.draw()
	return m, cmd
}

func (m *model) nextTick() tea.Cmd {
	generation := m.generation
	return tea.Tick(refreshEvery, func(time.Time) tea.Msg { return tickMsg{generation} })
}

// View hands out what Update has drawn.
func (m *model) View() tea.View {
	v := tea.NewView(m.content)
	v.AltScreen = true
	v.KeyboardEnhancements.ReportAlternateKeys = true // see ui.KeyNames
	return v
}

// Replied and Err are those of a ui.Screen.
func (m *model) Replied() bool { return m.replied }
func (m *model) Err() error    { return m.err }

// pull takes the newest rows and sorts them, the worst first.
func (m *model) pull(now time.Time) {
	m.now = now
	all := m.Rows()
	m.order = m.order[:0]
	for i := range all {
		m.order = append(m.order, i)
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return cmp.Compare(rank(all[b].State), rank(all[a].State)) })
	m.rows = m.rows[:0]
	for _, i := range m.order {
		m.rows = append(m.rows, all[i])
	}
}

// rank is how far up a state stands: what is not known yet comes before what is well.
func rank(s canary.State) int {
	if s == canary.Unknown {
		return 2*int(canary.OK) + 1
	}
	return 2 * int(s)
}

// at is the place of the chosen target among the rows.
func (m *model) at() int { return max(0, slices.Index(m.order, m.selected)) }

// choose moves the choice by so many rows.
func (m *model) choose(by int) {
	if len(m.order) > 0 {
		m.selected = m.order[max(0, min(m.at()+by, len(m.order)-1))]
	}
}
