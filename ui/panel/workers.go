package panel

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"sonde/probe/frame"
	"sonde/probe/units"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// workersFigure is how many other processes send the load; none if this one does.
func workersFigure(v *View) []text.Figure {
	list := v.Frame.Workers
	if len(list) == 0 {
		return nil
	}
	taking := 0
	for i := range list {
		if list[i].Takes() {
			taking++
		}
	}
	if taking < len(list) {
		return []text.Figure{text.Fig(fmt.Sprintf("%d of %d workers", taking, len(list)), v.Theme.Warn)}
	}
	if taking == 1 {
		return []text.Figure{text.Fig("1 worker", v.Theme.Dim)}
	}
	return []text.Figure{text.Fig(fmt.Sprintf("%d workers", taking), v.Theme.Dim)}
}

// workerLines are a table of the processes that send the load, in lines of w cells.
func workerLines(v *View, w int) []string {
	if len(v.Frame.Workers) == 0 {
		return nil
	}
	t := v.Theme
	row := func(name, streams, rate, cpu, clock string) string {
		return text.Pad(name, max(8, w-29)) + text.Right(streams, 5) + text.Right(rate, 8) + text.Right(cpu, 7) + text.Right(clock, 9)
	}
	lines := []string{"", t.Dim.Render(row("worker", "open", "tok/s", "CPU", "clock ms"))}
	for i := range v.Frame.Workers {
		m := &v.Frame.Workers[i]
		if !m.Takes() {
			lines = append(lines, workerStyle(t, m.State).Render(text.Clip(text.Clean(m.Name)+" "+workerWord(m), w)))
			continue
		}
		line := row(text.Clip(text.Clean(m.Name), max(7, w-30)), count(m.Streams), units.Tally(m.OutPerS), units.Percent(m.Health.CPU), "±"+units.Sig2(float64(m.ClockWithin.Microseconds())/1000))
		lines = append(lines, workerStyle(t, m.State).Render(line))
	}
	return lines
}

// workerWord says why a worker has no share.
func workerWord(w *frame.Worker) string {
	if w.Why != "" {
		return w.State.String() + ": " + text.Clean(w.Why)
	}
	return w.State.String()
}

func workerStyle(t *theme.Palette, s frame.WorkerState) lipgloss.Style {
	switch s {
	case frame.WorkerLost, frame.WorkerFailed:
		return t.Bad
	case frame.WorkerLate:
		return t.Warn
	case frame.WorkerWaiting:
		return t.Dim
	}
	return t.Plain
}
