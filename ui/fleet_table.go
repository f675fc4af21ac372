package ui

import (
	"slices"
	"strconv"

	"sonde/gpu"
	"sonde/probe/engine"
)

// fleetChartLeast is how many rows the charts keep beside the table of replicas.
const fleetChartLeast = 8

// replicaColumns are those of the table of replicas; their names take the rest.
var replicaColumns = []struct {
	name  string
	width int
	cell  func(*engine.Replica) string
}{
	{"KV", 7, func(r *engine.Replica) string { return percent(r.KVFill) }},
	{"run", 6, func(r *engine.Replica) string { return known(r.Running, group) }},
	{"wait", 6, func(r *engine.Replica) string { return known(r.Waiting, group) }},
	{"tok/s", 9, func(r *engine.Replica) string { return known(r.GenerationTokensPerS, group) }},
	{"SM", 7, func(r *engine.Replica) string { return percent(r.SM) }},
}

// replicas lists the fullest replicas, as many as leave room for the charts, and
// whichever is looked at.
func (t *theme) replicas(e *engine.Status, w, h int) []string {
	room := max(0, h-fleetChartLeast)
	if len(e.Replicas) < 2 || room < 2 {
		return nil
	}
	sorted := ranked(e.Replicas, false)
	shown, left := sorted, 0
	if most := room - 1; len(sorted) > most { // the last line says how many are left
		shown, left = sorted[:max(1, most-1)], len(sorted)-max(1, most-1)
	}
	if at := slices.IndexFunc(sorted, func(r engine.Replica) bool { return r.Name == e.Reading.Replica }); at >= len(shown) {
		shown = append(slices.Clone(shown[:len(shown)-1]), sorted[at])
	}
	lines := []string{t.dim.Render(t.replicaRow(w, "replica", func(i int) string { return replicaColumns[i].name }))}
	for i := range shown {
		r := &shown[i]
		line := t.replicaRow(w, clean(r.Name), func(i int) string { return replicaColumns[i].cell(r) })
		switch {
		case r.Name == e.Reading.Replica:
			line = t.focus.Render(pad(line, w))
		case r.KVFill.Or(0) >= kvNearlyFull:
			line = t.warn.Render(line)
		}
		lines = append(lines, line)
	}
	if left > 0 {
		lines = append(lines, t.dim.Render(" … and "+strconv.Itoa(left)+" more, emptier"))
	}
	return lines
}

func (t *theme) replicaRow(w int, name string, cell func(int) string) string {
	s := ""
	for i, c := range replicaColumns {
		s += right(cell(i), c.width)
	}
	return clip(s+"  "+clip(name, max(0, w-runes(s)-2)), w)
}

// differ tells that GPUs differ in something of theirs, for example their machine.
func differ(gpus []gpu.Reading, of func(*gpu.Reading) string) bool {
	return slices.ContainsFunc(gpus, func(g gpu.Reading) bool { return of(&g) != of(&gpus[0]) })
}

func hostOf(g *gpu.Reading) string     { return g.Host }
func exporterOf(g *gpu.Reading) string { return g.Exporter }

// places says for each GPU of a fleet what to write before its name: its machine,
// or what was scraped where machines have the same name. "" where all are of one.
func places(gpus []gpu.Reading) func(*gpu.Reading) string {
	of := exporterOf
	if differ(gpus, hostOf) {
		of = hostOf
	}
	if !differ(gpus, of) {
		return func(*gpu.Reading) string { return "" }
	}
	return func(g *gpu.Reading) string { return clean(of(g)) + "  " }
}

// busiestFirst sorts the GPUs of a fleet by their activity: the table has no room
// for all. Those of one machine keep the order of their numbers.
func busiestFirst(gpus []gpu.Reading) []gpu.Reading {
	if !differ(gpus, hostOf) && !differ(gpus, exporterOf) {
		return gpus
	}
	activity := func(g gpu.Reading) float64 { return g.SM.Or(g.Busy.Or(-1)) }
	out := slices.Clone(gpus)
	slices.SortStableFunc(out, func(a, b gpu.Reading) int {
		switch x, y := activity(a), activity(b); {
		case a.Lost != b.Lost && a.Lost, a.Lost == b.Lost && x > y:
			return -1
		case a.Lost != b.Lost, x < y:
			return 1
		}
		return 0
	})
	return out
}
