package scrape

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"sonde/probe/engine"
)

// llama prints counters as C++ streams do: with six significant digits.
func llama(generated float64) string {
	return "llamacpp:tokens_predicted_total " + strconv.FormatFloat(generated, 'g', 6, 64) + "\n"
}

// 60 tokens a second from 20 millions on, printed in steps of 100: single seconds
// show 0 or 100. The rate is held until the counter has moved by 1000, 17 s.
func TestRatesOfRoundedCounters(t *testing.T) {
	var pages []string
	for second := range 40 {
		pages = append(pages, llama(20e6+60*float64(second)))
	}
	for i, s := range series(t, time.Second, pages...) {
		rate := s.GenerationTokensPerS
		switch {
		case i < 16 && rate.OK:
			t.Errorf("at %d s: %v tokens/s of a counter that has moved by less than ten steps", i, rate.V)
		case i >= 18 && (rate.V < 55 || rate.V > 65): // ten steps of 100, one of them uncertain
			t.Errorf("at %d s: %v tokens/s, want 60 within a tenth", i, rate)
		case i >= 1 && !slices.Contains(s.Notes, roundedNote):
			t.Errorf("at %d s: notes %q", i, s.Notes)
		case s.Restarted:
			t.Errorf("at %d s: restarted", i)
		}
	}
}

// An idle server's rate must come down to zero although nothing moves.
func TestRoundedCounterThatStandsStill(t *testing.T) {
	pages := []string{llama(1e6), llama(1e6 + 500)}
	for range 31 {
		pages = append(pages, llama(1e6+500))
	}
	got := series(t, time.Second, pages...)
	check(t, "moving", got[1].GenerationTokensPerS, 500)
	check(t, "held", got[20].GenerationTokensPerS, 500)
	check(t, "after 30 s", got[31].GenerationTokensPerS, 0)
}

func TestSmallCountersAreNotHeld(t *testing.T) {
	got := series(t, 2*time.Second, llama(999_000), llama(999_900))
	check(t, "exact", got[1].GenerationTokensPerS, 450)
	for total, want := range map[float64]float64{999_999: 1, 1e6: 10, 9_999_990: 10, 1e7: 100, 1.23457e9: 10_000} {
		s := take(t, fmt.Sprintf("llamacpp:tokens_predicted_total %g\n", total), "")
		if got := s.step(engine.FieldGenerationTokens); got != want {
			t.Errorf("a counter of %v moves by %v, want %v", total, got, want)
		}
	}
}
