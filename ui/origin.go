package ui

import (
	"time"

	"sonde/probe/engine"
)

// explained are the fields whose origin the KV panel tells, by a word for each.
var explained = []struct{ word, field string }{
	{"fill", "KV cache fill"}, {"capacity", "KV cache capacity"}, {"run", "running"}, {"wait", "waiting"},
	{"hits", "prefix cache rate"}, {"out", "output rate"}, {"in", "input rate"},
}

// origins names where fields of the engine's reading come from, one line each:
// "run vllm:num_requests_running", with what is unusual about the figure, and with
// its age where it is older than the rest.
func origins(e *engine.Status) []string {
	var lines []string
	for _, x := range explained {
		o, known := e.Reading.Origin(x.field)
		if !known {
			continue
		}
		line := x.word + " " + clean(o.Source)
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
