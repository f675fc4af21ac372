package ui

import (
	"time"

	"sonde/probe"
)

// origins names where fields of the engine's reading come from, one line each:
// "running: vllm:num_requests_running", with what is unusual about the figure, and
// with its age where it is older than the rest.
func origins(e *probe.EngineStatus) []string {
	var lines []string
	for _, name := range []string{"KV cache fill", "KV cache capacity", "running", "waiting", "prefix cache rate", "output rate"} {
		o, known := e.Reading.Origin(name)
		if !known {
			continue
		}
		line := name + ": " + clean(o.Source)
		if o.Remark != "" {
			line += " (" + clean(o.Remark) + ")"
		}
		if older := e.Reading.At.Sub(o.At); older >= time.Second {
			line += ", older by " + span(older)
		}
		lines = append(lines, line)
	}
	return lines
}
