package report

import (
	"sonde/probe/opt"
	"sonde/probe/report/page"
	"sonde/probe/units"
)

// These write figures that may be unknown.
func figure(f opt.Float) string  { return units.Known(f, units.Digits3) }
func grouped(f opt.Float) string { return units.Known(f, units.Commas) }
func whole(f opt.Float) string   { return units.Known(f, units.Whole) }
func count(f opt.Float) string   { return units.Known(f, units.WholeCommas) }
func percent(f opt.Float) string { return units.Known(f, units.Percent3) }

// gib writes bytes in GiB.
func gib(f opt.Float) string {
	return units.Known(f.Scale(1.0/(1<<30)), func(v float64) string { return units.Digits3(v) + " GiB" })
}

// word writes a word that may be unknown.
func word(t Text) string {
	if t == "" {
		return units.Unknown
	}
	return page.Plain(string(t))
}
