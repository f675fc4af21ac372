package probe

import (
	"strings"
	"testing"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// longTick is a slice in which the long prompt waits or not, and gaps closed.
func longTick(waiting bool, gapsMS ...float32) collect.Tick {
	t := collect.Tick{Cells: []measure.StreamCell{{Slot: 0, State: measure.StreamDecode}, {Slot: 1, State: measure.StreamDecode}}}
	if waiting {
		t.Cells = append(t.Cells, measure.StreamCell{Slot: 2, Long: true, State: measure.StreamWaiting})
	} else {
		t.Cells = append(t.Cells, measure.StreamCell{Slot: 2, Long: true, State: measure.StreamDecode})
	}
	t.Client.Gap = measure.Summary{N: 100, P50: 10, P99: 40}
	t.Client.SliceGaps = gapsMS
	return t
}

// many is n times the same gap.
func many(n int, ms float32) []float32 {
	gaps := make([]float32, n)
	for i := range gaps {
		gaps[i] = ms
	}
	return gaps
}

// slice closes the nth slice, and gives its events.
func (w *longWatch) slice(n int, t *collect.Tick) []frame.Event {
	f := &frame.Frame{At: time.Duration(n) * w.tick}
	w.add(f, t)
	return f.Events
}

// An earlier long prompt that still gets its answer is not taken for the new one.
func TestEarlierLongPromptIsNotTheNewOne(t *testing.T) {
	w := &longWatch{tick: DefaultTick, active: true, tokens: 8192, earlier: []int{5}}
	with := func(waiting bool, gapsMS ...float32) *collect.Tick {
		tick := longTick(waiting, gapsMS...)
		tick.Cells = append([]measure.StreamCell{{Slot: 5, Long: true, State: measure.StreamDecode}}, tick.Cells...)
		return &tick
	}
	var events []frame.Event
	for i, tick := range []*collect.Tick{with(true, 10, 10), with(true), with(true), with(false, 700, 700)} {
		events = append(events, w.slice(i+1, tick)...)
	}
	if len(events) != 1 || !strings.Contains(events[0].Text, "rose from 10.0 ms to 700 ms") {
		t.Errorf("events %+v", events)
	}
}

func TestLongPromptsEffect(t *testing.T) {
	for _, c := range []struct {
		name  string
		ticks []collect.Tick
		want  string
	}{
		{"disturbed", []collect.Tick{longTick(true, 10, 10), longTick(true, 200, 210), longTick(true, 205, 208), longTick(false, 10, 11)},
			"a prompt of 8192 tokens: gaps of 2 streams rose from 10.0 ms to 210 ms for 500 ms"},
		{"one long gap each among many", []collect.Tick{longTick(true, many(300, 10)...), longTick(true), longTick(true, 897, 897), longTick(false, 10, 11)},
			"a prompt of 8192 tokens: gaps of 2 streams rose from 10.0 ms to 897 ms for 500 ms"},
		{"undisturbed", []collect.Tick{longTick(true, 10, 11), longTick(false, 10, 12)}, "changed little: gaps of the others stayed at 12.0 ms"},
		{"no more than other prompts do", []collect.Tick{longTick(true, 10, 43), longTick(true, 10, 42), longTick(false, 10, 12)},
			"changed little: gaps of the others stayed at 43.0 ms"},
		{"stopped", []collect.Tick{longTick(true), longTick(true), longTick(false)}, "stopped the tokens of all other streams for 750 ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &longWatch{tick: DefaultTick, active: true, tokens: 8192}
			var events []frame.Event
			for i := range c.ticks {
				events = append(events, w.slice(i+1, &c.ticks[i])...)
			}
			if len(events) != 1 || events[0].Kind != frame.EventEffect || !strings.Contains(events[0].Text, c.want) {
				t.Errorf("events %+v, want one with %q", events, c.want)
			}
			if w.active {
				t.Error("the watch goes on")
			}
		})
	}
}
