package report

import (
	"testing"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
)

// Lengths that were not honoured are noted from one request on. What fitting leaves, a
// token or one per cent, is not.
func TestLengthsThatWereNotHonouredAreNoted(t *testing.T) {
	wide := length.Shape{Kind: length.Uniform, Width: 0.5}
	of := func(mean float64) measure.Summary { return measure.Summary{N: 1, Mean: mean} }
	for _, c := range []struct {
		name    string
		level   level.Level
		prompts string
		answers string
	}{
		{"neither", level.Level{Load: frame.Load{InputTokens: 1024, OutputTokens: 512}, InputLengths: of(1107), OutputLengths: of(37)},
			"prompts have 1,107 tokens instead of the requested 1,024: figures hold for the measured length",
			"answers have 37 tokens instead of the requested 512: figures hold for the measured length"},
		{"both", level.Level{Load: frame.Load{InputTokens: 256, OutputTokens: 64}, InputLengths: of(257), OutputLengths: of(63)}, "", ""},
		{"nothing succeeded", level.Level{Load: frame.Load{InputTokens: 256, OutputTokens: 64}}, "", ""},
		{"a prompt file", level.Level{Load: frame.Load{OutputTokens: 64}, InputLengths: of(99), OutputLengths: of(7)}, "", ""},
		{"longer answers", level.Level{Load: frame.Load{InputTokens: 256, OutputTokens: 64}, InputLengths: of(256), OutputLengths: of(70)}, "",
			"answers have 70 tokens instead of the requested 64: figures hold for the measured length"},
		{"a spread, by what was drawn", level.Level{Load: frame.Load{InputTokens: 256, OutputTokens: 64, InputShape: wide, OutputShape: wide},
			RequestedInputs: of(300), InputLengths: of(301), RequestedOutputs: of(80), OutputLengths: of(64)}, "",
			"answers have 64 tokens instead of the requested 80: figures hold for the measured length"},
		{"conversations, by their first turn", level.Level{Load: frame.Load{InputTokens: 256, OutputTokens: 64, Turns: 3}, InputLengths: of(900), OutputLengths: of(64),
			Turns: []level.Turn{{Turn: 1, N: 1, Input: opt.Of(300)}, {Turn: 2, N: 1, Input: opt.Of(1500)}}},
			"prompts have 300 tokens instead of the requested 256: figures hold for the measured length", ""},
		{"chunks", level.Level{Load: frame.Load{InputTokens: 256, OutputTokens: 64}, OutputLengths: of(12),
			Counts: measure.Counts{}, Tokens: level.Tokens{BySource: map[measure.TokenSource]int{measure.Chunks: 1}}}, "", ""},
	} {
		var want []string
		for _, note := range []string{c.prompts, c.answers} {
			if note != "" {
				want = append(want, note)
			}
		}
		var got []string
		for _, note := range remarks(&bench.Outcome{Level: c.level}) {
			if len(note) > 7 && (note[:7] == "prompts" || note[:7] == "answers") {
				got = append(got, note)
			}
		}
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] || len(got) > 1 && got[1] != want[1] {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}
