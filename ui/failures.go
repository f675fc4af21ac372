package ui

import (
	"slices"

	"sonde/probe/measure"
)

// failures is what the zoomed load panel adds: failures by class, the last error
// in full, and the health of the client, in lines of w cells.
func (l *loadPanel) failures(p *picture, w int) []string {
	t, f := l.theme, p.frame
	var lines []string
	classes := make([]string, 0, len(f.Client.ByClass))
	for c := range f.Client.ByClass {
		classes = append(classes, string(c))
	}
	slices.Sort(classes)
	for _, c := range classes {
		name := pad(clean(c), classWidth)
		lines = append(lines, t.dim.Render(name)+right(group(float64(f.Client.ByClass[measure.Class(c)])), numberWidth))
	}
	if f.Client.LastError != "" {
		lines = append(lines, "")
		lines = append(lines, styled(wrap(clean(f.Client.LastError), w), t.dim)...)
	}
	plain := func(text string) figure { return figure{text, t.plain} }
	return append(lines, "",
		t.entry(w, "sent", t.count(f.Client.Sent)),
		t.entry(w, "mean", plain(known(f.Client.ConcurrencyMean, sig3)), " in flight"),
		t.entry(w, "stamps", plain(cleanOr(f.Health.Stamps, unknown)), "  late p99 "+sig3(f.Health.LateMsP99)+" ms"),
		t.entry(w, "client CPU", plain(percent(f.Health.CPU)), " of a core  GC "+sig3(f.Health.GCPauseMs)+" ms"))
}

// classWidth is the room for the name of a class of failures: the longest have 15.
const classWidth = 17
