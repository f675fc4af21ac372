package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sonde/probe/bench"
	"sonde/probe/diagnose"
)

// The bad times of a run are in every format for people and in the JSON, which has null for the end
// of one that goes on.
func TestIncidents(t *testing.T) {
	s := New(&bench.Outcome{Incidents: []diagnose.Incident{
		{Rule: "preemptions", Severity: diagnose.Warn, Text: "the KV cache is too small", From: 43 * time.Second, To: 80 * time.Second},
		{Rule: "overload", Severity: diagnose.Bad, Text: "the queue keeps growing", From: 90500 * time.Millisecond, To: 95 * time.Second, Open: true},
	}})
	written, err := json.Marshal(s.Incidents)
	const want = `[{"rule":"preemptions","severity":"warn","says":"the KV cache is too small","from_s":43,"to_s":80},` +
		`{"rule":"overload","severity":"bad","says":"the queue keeps growing","from_s":90.5,"to_s":null}]`
	if err != nil || string(written) != want {
		t.Errorf("%v\n%s, want\n%s", err, written, want)
	}
	for _, text := range []string{s.Text(100, false), s.Markdown()} {
		for _, line := range []string{"43–80 s, warn: the KV cache is too small", "since 90 s, bad: the queue keeps growing"} {
			if !strings.Contains(text, line) {
				t.Errorf("%q is not in\n%s", line, text)
			}
		}
	}
}
