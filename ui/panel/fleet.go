package panel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/units"
	"sonde/ui/text"
)

// Ranked sorts replicas by KV fill, or by the SM activity of their GPUs where that is
// known, the highest first and those without a value last.
func Ranked(all []engine.Replica, bySM bool) []engine.Replica {
	value := func(r engine.Replica) opt.Float { return r.KVFill }
	if bySM && slices.ContainsFunc(all, func(r engine.Replica) bool { return r.SM.OK }) {
		value = func(r engine.Replica) opt.Float { return r.SM }
	}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b engine.Replica) int { return cmp.Compare(value(b).Or(-1), value(a).Or(-1)) })
	return out
}

// fleetOf says whose figures the engine's are: "all of 3", the replica's name, or the model
// if requests name another one; "" if there is only one.
func fleetOf(f *frame.Frame) string {
	e := &f.Engine
	var parts []string
	if len(e.OnPage) > 1 && e.Reading.Model != "" && !strings.EqualFold(e.Reading.Model, e.Identity.Model) {
		parts = append(parts, shortModel(e.Reading.Model))
	}
	switch {
	case e.Reading.Replica != "":
		parts = append(parts, text.Clean(e.Reading.Replica))
	case len(e.Replicas) > 1:
		parts = append(parts, "all of "+strconv.Itoa(len(e.Replicas)))
	}
	return strings.Join(parts, " · ")
}

// FleetShort is fleetOf in few cells: the end of a name, which distinguishes replicas, or "×3"
// for all of them.
func FleetShort(f *frame.Frame) string {
	const most = 14
	s := []rune(strings.Replace(fleetOf(f), "all of ", "×", 1))
	if len(s) > most && f.Engine.Reading.Replica != "" {
		return "…" + string(s[len(s)-most+1:])
	}
	return string(s)
}

// ofFleet is a panel's name, followed by whose figures it shows.
func ofFleet(name, whose string) string {
	if whose == "" {
		return name
	}
	return name + " " + whose
}

// fleetChartLeast is how many rows the charts keep beside the table of replicas.
const fleetChartLeast = 8

// replicas lists the fullest replicas, as many as leave room for the charts, and always the
// chosen one.
func replicas(v *View, w, h int) []string {
	t, e := v.Theme, &v.Frame.Engine
	room := max(0, h-fleetChartLeast)
	if len(e.Replicas) < 2 || room < 2 {
		return nil
	}
	sorted := Ranked(e.Replicas, false)
	shown, omitted := sorted, 0
	if most := room - 1; len(sorted) > most { // the last line says how many are omitted
		shown, omitted = sorted[:max(1, most-1)], len(sorted)-max(1, most-1)
	}
	if at := slices.IndexFunc(sorted, func(r engine.Replica) bool { return r.Name == e.Reading.Replica }); at >= len(shown) {
		shown = append(slices.Clone(shown[:len(shown)-1]), sorted[at])
	}
	head, rows := replicaTable.Lines(t, shown, w)
	for i := range shown {
		switch r := &shown[i]; {
		case r.Name == e.Reading.Replica:
			rows[i] = t.Focus.Render(text.Pad(rows[i], w))
		case r.KVFill.Or(0) >= kvNearlyFull:
			rows[i] = t.Warn.Render(rows[i])
		}
	}
	lines := append(head, rows...)
	if omitted > 0 {
		lines = append(lines, t.Dim.Render(" … and "+strconv.Itoa(omitted)+" less full"))
	}
	return lines
}

// replicaTable has the names of the replicas in the space after its columns.
var replicaTable = text.Table[engine.Replica]{
	Columns: []text.Column[engine.Replica]{
		replicaColumn("KV", 6, units.Percent, func(r *engine.Replica) opt.Float { return r.KVFill }),
		replicaColumn("run", 5, wholeNumber, func(r *engine.Replica) opt.Float { return r.Running }),
		replicaColumn("wait", 5, wholeNumber, func(r *engine.Replica) opt.Float { return r.Waiting }),
		replicaColumn("tok/s", 8, wholeNumber, func(r *engine.Replica) opt.Float { return r.GenerationTokensPerS }),
		replicaColumn("SM", 6, units.Percent, func(r *engine.Replica) opt.Float { return r.SM }),
	},
	RestName: "replica", Rest: func(r *engine.Replica) string { return text.Clean(r.Name) },
}

func wholeNumber(f opt.Float) string { return units.Known(f, units.Tally) }

func replicaColumn(name string, width int, write func(opt.Float) string, value func(*engine.Replica) opt.Float) text.Column[engine.Replica] {
	return text.Column[engine.Replica]{Name: name, Width: width, Cell: func(r *engine.Replica) text.Figure {
		return text.Figure{Text: write(value(r))}
	}}
}
