package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"sonde/probe/frame"
	"sonde/ui/panel"
	"sonde/ui/text"
	"sonde/ui/theme"
)

// command is what some keys do, and how the help and the key line show them. Consecutive
// commands with the same text share one line of the help.
type command struct {
	keys  []string // as Bubble Tea names them
	shown string   // the keys in the help
	text  string   // the line of the help
	line  string   // the word in the key line, "" if it is only in the help
	needs need     // what it cannot work without
	do    func(*model)
}

// need is what a command cannot work without.
type need int

const (
	needNothing need = iota
	needControls
	needLoad // it changes the load, or sends something
	needPlayback
	needSweeper
	needLevels
	needRehearsal
	needSave
	needOther
)

// lacks is why a command with this need cannot work here; "" if it can.
func (m *model) lacks(n need) string {
	switch {
	case (n == needControls || n == needLoad) && m.Controls == nil:
		return "this is a recording; there is nothing to control"
	case sends(n) && m.live.Frame.Load.Watch:
		return frame.Watching
	case n == needPlayback && m.Playback == nil:
		return "seeking works in recordings only: sonde replay FILE"
	case n == needSweeper && m.Sweeper == nil:
		return "there is nothing to sweep"
	case n == needLevels && m.Levels == nil:
		return "no levels are recorded here"
	case n == needRehearsal && m.Rehearsal == nil:
		return "only the embedded engine has switches; run sonde without a URL to use it"
	case n == needOther && m.Other == nil:
		return "there is no other run to compare with: start with --against FILE"
	case n == needSave && m.Save == nil:
		return "there is nothing to save"
	}
	return ""
}

// sends reports whether a command that needs this is for sending load.
func sends(n need) bool { return n == needLoad || n == needSweeper }

// offered are the commands that the screen lists: a session that only watches is not
// invited to send anything.
func (m *model) offered() []command {
	if !m.live.Frame.Load.Watch {
		return m.commands
	}
	return slices.DeleteFunc(slices.Clone(m.commands), func(c command) bool { return sends(c.needs) })
}

// Two commands share each of these lines of the help.
const (
	byOneText    = "raise or lower the concurrency by one (also + −); open loop: the rate"
	doubleText   = "double or halve it"
	sweepText    = "sweep through loads: start, stop, resume (S: restart)"
	panelText    = "next or previous panel"
	secondsText  = "recording: seek −10 s / +10 s"
	minutesText  = "recording: seek −1 min / +1 min"
	cursorText   = "cursor through all charts: ←→ (⇧: by ten) or the mouse move it; titles show its moment"
	markText     = "cursor to the previous or next mark: load change, long prompt, incident"
	startEndText = "recording: go to the start or the end"
	speedText    = "recording: slower or faster"
)

// commands is the key map. Everything that lists keys (the key line, the help,
// the documentation) is made from it.
func commands() []command {
	return slices.Concat(loadKeys(), levelKeys(), panelKeys(), readingKeys(), sessionKeys(), playbackKeys())
}

// loadKeys change the load.
func loadKeys() []command {
	return []command{
		{[]string{"up", "+", "="}, "↑", byOneText, "concurrency", needLoad, amount(func(n int) int { return n + 1 }, rateUp)},
		{[]string{"down", "-", "_"}, "↓", byOneText, "concurrency", needLoad, amount(func(n int) int { return max(0, n-1) }, rateDown)},
		{[]string{"pgup"}, "pgup", doubleText, "", needLoad, amount(func(n int) int { return max(1, 2*n) }, func(r float64) float64 { return 2 * r })},
		{[]string{"pgdown"}, "pgdn", doubleText, "", needLoad, amount(func(n int) int { return n / 2 }, func(r float64) float64 { return r / 2 })},
		{[]string{"left"}, "←", "prompt length", "prompt", needLoad, promptLength(stepDown)},
		{[]string{"right"}, "→", "prompt length", "prompt", needLoad, promptLength(stepUp)},
		{[]string{"["}, "[", "output length", "output", needLoad, outputLength(stepDown)},
		{[]string{"]"}, "]", "output length", "output", needLoad, outputLength(stepUp)},
		{[]string{"p"}, "p", "next prompt prefix: unique, shared, same", "", needLoad, (*model).nextPrefix},
		{[]string{"b"}, "b", "open loop: next arrivals: poisson, constant, bursts", "", needLoad, (*model).nextArrivals},
		{[]string{"R"}, "R", "open loop: ramp to twice the rate within a minute", "", needLoad, (*model).rampUp},
		{[]string{"0"}, "0", "stop: send no new requests, let running ones finish", "stop", needLoad, (*model).stopLoad},
		{[]string{"x"}, "x", "abort: cancel all requests in flight", "", needLoad, (*model).abort},
		{[]string{"u"}, "u", "undo the last change of the load (requests stay cancelled)", "", needLoad, (*model).undo},
		{[]string{"l"}, "l", "send one long prompt to see how it affects the others", "long prompt",
			needLoad, controls("long prompt sent: watch the gaps of the other streams", frame.Controls.FireLong)},
	}
}

// levelKeys go through the levels, compare them, and disturb the embedded engine.
func levelKeys() []command {
	return []command{
		{[]string{"s"}, "s", sweepText, "sweep", needSweeper, (*model).toggleSweep},
		{[]string{"S"}, "S", sweepText, "", needSweeper, (*model).startSweep},
		{[]string{"t"}, "t", "levels: table, curve, knee", "levels", needNothing, (*model).toggleLevels},
		{[]string{"a"}, "a", "levels: revisiting a level adds to its results, or replaces them", "", needLevels, (*model).toggleReplace},
		{[]string{"C"}, "C", "other run (--against): align by time or by load", "align", needOther, (*model).toggleAlignment},
		{[]string{"d"}, "d", "embedded engine: chunked prefill, faults, incidents", "", needRehearsal, func(m *model) { m.toggle(overlayRehearsal) }},
	}
}

// panelKeys choose a panel.
func panelKeys() []command {
	all := []command{
		{[]string{"tab"}, "tab", panelText, "panel", needNothing, func(m *model) { m.moveFocus(1) }},
		{[]string{"shift+tab"}, "⇧tab", panelText, "", needNothing, func(m *model) { m.moveFocus(-1) }},
	}
	for id := range panel.Count {
		c := command{[]string{strconv.Itoa(int(id) + 1)}, "", "go to load, TTFT, TPOT, gap, tokens/s, GPU, KV, streams", "", needNothing, goToPanel(id)}
		if id == 0 {
			c.shown = "1…8"
		}
		all = append(all, c)
	}
	return append(all, []command{
		{[]string{"z", "enter"}, "z", "zoom the panel (also enter)", "zoom", needNothing, (*model).toggleZoom},
		{[]string{"esc"}, "esc", "back", "back", needNothing, (*model).back},
	}...)
}

// readingKeys help to read the charts.
func readingKeys() []command {
	return []command{
		{[]string{"c"}, "c", cursorText, "cursor", needNothing, (*model).toggleCursor},
		{[]string{"("}, "(", markText, "mark", needNothing, jumpToMark(-1)},
		{[]string{")"}, ")", markText, "mark", needNothing, jumpToMark(1)},
		{[]string{"i"}, "i", "explain the panel: definition, source, window, age", "", needNothing, func(m *model) { m.toggle(overlayExplain) }},
		{[]string{"v"}, "v", "all verdicts, with evidence and advice, and the incidents so far", "why", needNothing, func(m *model) { m.toggle(overlayVerdicts) }},
		{[]string{"n"}, "n", "next replica of a fleet, fullest first; after the last one, all", "", needControls, (*model).nextReplica},
		{[]string{"m"}, "m", "next model, where the metrics cover several", "", needControls, (*model).nextModel},
	}
}

// sessionKeys are for the session and the screen.
func sessionKeys() []command {
	return []command{
		{[]string{"space"}, "space", "pause the display (measuring continues), or the recording", "pause", needNothing, (*model).togglePause},
		{[]string{"r"}, "r", "reset statistics", "", needControls, controls("statistics reset; the charts keep their history", frame.Controls.ResetStatistics)},
		{[]string{"w"}, "w", "live window: 10, 30 or 60 s", "", needControls, (*model).nextWindow},
		{[]string{"e"}, "e", "save the results, a picture of the screen and its last 3 minutes", "save", needSave, (*model).save},
		{[]string{":"}, ":", "command line: :i 4k, :slo ttft_p95=1s … (tab, ↑, esc)", "", needNothing, (*model).openLine},
		{[]string{"?", "h"}, "?", "this help", "help", needNothing, func(m *model) { m.toggle(overlayHelp) }},
		{[]string{"ctrl+l"}, "ctrl+l", "redraw the screen", "", needNothing, returns(tea.ClearScreen)},
		{[]string{"ctrl+z"}, "ctrl+z", "suspend", "", needNothing, returns(tea.Suspend)},
		{[]string{"q"}, "q", "quit", "quit", needNothing, returns(tea.Quit)},
		{[]string{"ctrl+c"}, "ctrl+c", "force quit", "", needNothing, returns(tea.Interrupt)},
	}
}

// playbackKeys move through a recording.
func playbackKeys() []command {
	return []command{
		{[]string{","}, ",", secondsText, "10 s", needPlayback, jumps(-10 * time.Second)},
		{[]string{"."}, ".", secondsText, "10 s", needPlayback, jumps(10 * time.Second)},
		{[]string{"<"}, "<", minutesText, "1 min", needPlayback, jumps(-time.Minute)},
		{[]string{">"}, ">", minutesText, "1 min", needPlayback, jumps(time.Minute)},
		{[]string{"home"}, "home", startEndText, "", needPlayback, jumps(-beyond)},
		{[]string{"end"}, "end", startEndText, "", needPlayback, jumps(beyond)},
		{[]string{"{"}, "{", speedText, "speed", needPlayback, speeds(0.5)},
		{[]string{"}"}, "}", speedText, "speed", needPlayback, speeds(2)},
	}
}

// returns is a command that the library carries out.
func returns(cmd tea.Cmd) func(*model) {
	return func(m *model) { m.then = cmd }
}

// find is the command of a key, nil if it has none.
func find(all []command, key string) *command {
	at := slices.IndexFunc(all, func(c command) bool { return slices.Contains(c.keys, key) })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// hints joins consecutive commands with the same text into one line of the help.
func hints(all []command) []command {
	var out []command
	for _, c := range all {
		if n := len(out); n > 0 && out[n-1].text == c.text {
			out[n-1].shown = strings.TrimSpace(out[n-1].shown + " " + c.shown)
			continue
		}
		out = append(out, c)
	}
	return out
}

// lineOrder sorts the words of the key line by importance: the first ones survive on the
// narrowest screen.
var lineOrder = []string{"help", "quit", "concurrency", "stop", "align", "sweep", "long prompt", "zoom", "why", "panel", "levels", "prompt", "output", "pause", "cursor", "save"}

// cursorOrder is lineOrder while there is a cursor: the arrows move it.
var cursorOrder = []string{"help", "quit", "back", "cursor", "mark", "align", "pause", "stop", "zoom", "why", "panel", "save"}

// replayOrder is lineOrder for a recording, whose load cannot be changed.
var replayOrder = []string{"help", "quit", "pause", "10 s", "align", "speed", "1 min", "zoom", "why", "panel", "cursor", "save"}

// overlayOrder is lineOrder while an overlay is open: the arrows scroll it and do not change
// the load.
var overlayOrder = []string{"help", "quit", "back", "stop", "sweep", "why", "levels", "long prompt", "output", "pause", "save"}

// keyLine shows the keys that matter most, as many as fit, in the order of the
// key map.
func keyLine(t *theme.Palette, all []command, order []string, w int) string {
	keep := map[string]bool{}
	line := func() string {
		var parts []string
		for _, h := range hints(all) {
			if keep[h.line] {
				parts = append(parts, t.Accent.Render(strings.ReplaceAll(h.shown, " ", ""))+" "+t.Dim.Render(h.line))
			}
		}
		return " " + strings.Join(parts, "  ")
	}
	for _, word := range order {
		keep[word] = true
		if lipgloss.Width(line()) > w {
			delete(keep, word)
		}
	}
	return text.Pad(line(), w)
}
