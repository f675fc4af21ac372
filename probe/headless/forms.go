package headless

import (
	"fmt"

	"sonde/probe/opt"
	"sonde/probe/report"
)

// What a run amounts to has its form in report.
type (
	Summary         = report.Summary
	SweepSummary    = report.SweepSummary
	Level           = report.Level
	Target          = report.Target
	Settings        = report.Settings
	Hardware        = report.Hardware
	Load            = report.Load
	RequestCounts   = report.RequestCounts
	TokenCounts     = report.TokenCounts
	Lengths         = report.Lengths
	Latencies       = report.Latencies
	Quantiles       = report.Quantiles
	Rates           = report.Rates
	SLOResult       = report.SLOResult
	EngineFigures   = report.EngineFigures
	EngineLatencies = report.EngineLatencies
	Estimate        = report.Estimate
	GPUFigures      = report.GPUFigures
	Roofline        = report.Roofline
	ClientFigures   = report.ClientFigures
	Verdict         = report.Verdict
	Number          = report.Number
	Text            = report.Text
	Instant         = report.Instant
)

const Schema = report.Schema

func number(f opt.Float) Number { return report.Rounded(f) }
func share(f opt.Float) Number  { return report.RoundedShare(f) }

// iff formats the note if it applies, else it is empty.
func iff(applies bool, format string, args ...any) string {
	if !applies {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func ratio(part, whole int) opt.Float {
	if whole == 0 {
		return opt.Float{}
	}
	return opt.Of(float64(part) / float64(whole))
}
