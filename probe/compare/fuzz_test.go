package compare

import (
	"encoding/json"
	"strings"
	"testing"

	"sonde/probe/report"
)

// Whatever a file holds, a comparison of it is valid in every format.
func FuzzCompare(f *testing.F) {
	f.Add([]byte(`{"schema":"sonde/summary/1","requests":{"ok":1},"latency_ms":{"ttft":{"n":1,"p50":1e308},"tpot":{"p50":-1}},"rates":{"output_tokens_per_s":1e-308}}`), 4)
	f.Add([]byte(`{"schema":"sonde/summary/1","levels":[{"load":{"rate":1},"latency_ms":{"e2e":{"p50":0}}},{"load":{"concurrency":-3}}],"knee":{"concurrency":0},"best_within_slo":{"rate":0}}`), 1)
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		file, err := report.ReadFile(raw)
		if err != nil {
			return
		}
		var a, b []Run
		for i := range 1 + uint(n)%4 {
			other := *file
			other.Levels = append([]report.Level(nil), file.Levels...)
			for k := range other.Levels {
				other.Levels[k].LatencyMS.TTFT.P50.V *= float64(1 + i)
			}
			a, b = append(a, Run{"a", file}), append(b, Run{"b", &other})
		}
		for i := range a { // the same run twice would be refused
			own := *a[i].File
			own.Seed += uint64(i)
			a[i].File = &own
			b[i].Seed += uint64(i)
		}
		c, err := Compare(Ask{Before: a, After: b})
		if err != nil {
			return
		}
		for _, format := range []string{"table", "json", "csv", "md"} {
			text, err := report.Render(c, format, 80, false)
			if err != nil || strings.Contains(text, "NaN") || strings.Contains(text, "+Inf") || format == "json" && !json.Valid([]byte(text)) {
				t.Fatalf("%s: %v\n%s", format, err, text)
			}
		}
	})
}
