package report

import (
	"testing"
	"time"

	"sonde/probe/engine"
	"sonde/probe/level"
)

// A run says why the engine was not read, or since when it was not.
func TestNotesAboutTheEngine(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	page := engine.Identity{MetricsURL: "http://h/metrics"}
	tests := []struct {
		name    string
		sources level.Sources
		want    string
	}{
		{"read to the end", level.Sources{Identity: page, Read: true, Engine: engine.Ready, LastRead: at}, ""},
		{"switched off", level.Sources{Engine: engine.Off, EngineWhy: "switched off"}, ""},
		{"refused", level.Sources{Identity: page, Engine: engine.Failed, EngineWhy: "400 at http://h/metrics: no model"}, "no engine readings: 400 at http://h/metrics: no model"},
		{"none to find", level.Sources{Identity: engine.Identity{MetricsWhy: "404 at http://h/metrics"}, Engine: engine.NotReported}, "no engine readings: 404 at http://h/metrics"},
		{"several", level.Sources{Identity: page, Engine: engine.Several, EngineWhy: "several engines"}, "no engine readings: several engines"},
		{"one scrape failed", level.Sources{Identity: page, Read: true, Engine: engine.Failed, EngineWhy: "timeout", LastRead: at}, ""},
		{"ended", level.Sources{Identity: page, Read: true, Engine: engine.Failed, EngineWhy: "connection refused", LastRead: at, Unread: 18 * time.Second},
			"engine readings ended at 03:04:05, 18 s before the end: connection refused"},
	}
	for _, tt := range tests {
		if got := aboutEngine(&tt.sources); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
