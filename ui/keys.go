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

// command is what some keys do, and how the help and the key line show them. Commands that
// follow each other with the same text are one line of the help.
type command struct {
	keys  []string // as Bubble Tea names them
	shown string   // the keys in the help
	text  string   // the line of the help
	line  string   // the word in the key line, "" if it is only in the help
	do    func(*model) tea.Cmd
}

// Two commands share each of these lines of the help.
const (
	byOneText    = "raise or lower the concurrency by one (also + −); open loop: the rate"
	doubleText   = "double or halve it"
	sweepText    = "sweep through loads: start, stop, resume (S: restart)"
	panelText    = "next or previous panel"
	secondsText  = "recording: seek −10 s / +10 s"
	minutesText  = "recording: seek −1 min / +1 min"
	startEndText = "recording: go to the start or the end"
	speedText    = "recording: slower or faster"
)

// commands is the key map. Everything that lists keys (the key line, the help,
// the documentation) is made from it.
func commands() []command {
	all := []command{
		{[]string{"up", "+", "="}, "↑", byOneText, "concurrency", amount(func(n int) int { return n + 1 }, rateUp)},
		{[]string{"down", "-", "_"}, "↓", byOneText, "concurrency", amount(func(n int) int { return max(0, n-1) }, rateDown)},
		{[]string{"pgup"}, "pgup", doubleText, "", amount(func(n int) int { return max(1, 2*n) }, func(r float64) float64 { return 2 * r })},
		{[]string{"pgdown"}, "pgdn", doubleText, "", amount(func(n int) int { return n / 2 }, func(r float64) float64 { return r / 2 })},
		{[]string{"left"}, "←", "prompt length", "prompt", promptLength(stepDown)},
		{[]string{"right"}, "→", "prompt length", "prompt", promptLength(stepUp)},
		{[]string{"["}, "[", "output length", "output", outputLength(stepDown)},
		{[]string{"]"}, "]", "output length", "output", outputLength(stepUp)},
		{[]string{"p"}, "p", "next prompt prefix: unique, shared, same", "", (*model).nextPrefix},
		{[]string{"0"}, "0", "stop: send no new requests, let running ones finish", "stop", (*model).stopLoad},
		{[]string{"x"}, "x", "abort: cancel all requests in flight", "", (*model).abort},
		{[]string{"l"}, "l", "send one long prompt and see how it affects the others", "long prompt",
			controls("long prompt sent: watch the gaps of the other streams", frame.Controls.FireLong)},
		{[]string{"s"}, "s", sweepText, "sweep", (*model).toggleSweep},
		{[]string{"S"}, "S", sweepText, "", (*model).startSweep},
		{[]string{"t"}, "t", "levels: table, curve, knee", "levels", (*model).toggleLevels},
		{[]string{"a"}, "a", "levels: revisiting a level adds to its results, or replaces them", "", (*model).toggleReplace},
		{[]string{"d"}, "d", "embedded engine: chunked prefill, faults, incidents", "", (*model).toggleRehearsal},
		{[]string{"tab"}, "tab", panelText, "panel", moveFocus(1)},
		{[]string{"shift+tab"}, "⇧tab", panelText, "", moveFocus(-1)},
	}
	for id := range panel.Count {
		c := command{[]string{strconv.Itoa(int(id) + 1)}, "", "go to load, TTFT, TPOT, gap, tokens/s, GPU, KV, streams", "", goToPanel(id)}
		if id == 0 {
			c.shown = "1…8"
		}
		all = append(all, c)
	}
	return append(all, []command{
		{[]string{"z", "enter"}, "z", "zoom the panel (also enter)", "zoom", (*model).toggleZoom},
		{[]string{"esc"}, "esc", "back", "back", (*model).back},
		{[]string{"i"}, "i", "explain the panel: definition, source, window, age", "", toggles(overlayExplain)},
		{[]string{"v"}, "v", "all verdicts, with evidence and advice", "why", toggles(overlayVerdicts)},
		{[]string{"n"}, "n", "next replica of a fleet, fullest first; after the last one, all", "", (*model).nextReplica},
		{[]string{"m"}, "m", "next model, where the metrics cover several", "", (*model).nextModel},
		{[]string{"space"}, "space", "pause the display (measuring continues), or the recording", "pause", (*model).togglePause},
		{[]string{"r"}, "r", "reset statistics", "", controls("statistics reset; the charts keep their history", frame.Controls.ResetStatistics)},
		{[]string{"w"}, "w", "live window: 10, 30 or 60 s", "", (*model).nextWindow},
		{[]string{"e"}, "e", "save the results and a picture of the screen", "save", (*model).save},
		{[]string{"?", "h"}, "?", "this help", "help", toggles(overlayHelp)},
		{[]string{"ctrl+l"}, "ctrl+l", "redraw the screen", "", returns(tea.ClearScreen)},
		{[]string{"ctrl+z"}, "ctrl+z", "suspend", "", returns(tea.Suspend)},
		{[]string{"q"}, "q", "quit", "quit", returns(tea.Quit)},
		{[]string{"ctrl+c"}, "ctrl+c", "force quit", "", returns(tea.Interrupt)},
		{[]string{","}, ",", secondsText, "10 s", jumps(-10 * time.Second)},
		{[]string{"."}, ".", secondsText, "10 s", jumps(10 * time.Second)},
		{[]string{"<"}, "<", minutesText, "minute", jumps(-time.Minute)},
		{[]string{">"}, ">", minutesText, "minute", jumps(time.Minute)},
		{[]string{"home"}, "home", startEndText, "", jumps(-beyond)},
		{[]string{"end"}, "end", startEndText, "", jumps(beyond)},
		{[]string{"{"}, "{", speedText, "speed", speeds(0.5)},
		{[]string{"}"}, "}", speedText, "speed", speeds(2)},
	}...)
}

// returns is a command that the library carries out.
func returns(cmd tea.Cmd) func(*model) tea.Cmd {
	return func(*model) tea.Cmd { return cmd }
}

// find is the command of a key, nil if it has none.
func find(all []command, key string) *command {
	at := slices.IndexFunc(all, func(c command) bool { return slices.Contains(c.keys, key) })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// hints joins neighbours of one text to a line of the help.
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

// lineOrder is the importance of the words in the key line: the first survive on
// the narrowest screen.
var lineOrder = []string{"help", "quit", "concurrency", "stop", "sweep", "long prompt", "zoom", "why", "panel", "levels", "prompt", "output", "pause", "save"}

// replayOrder is lineOrder for a recording, whose load cannot be changed.
var replayOrder = []string{"help", "quit", "pause", "10 s", "speed", "minute", "zoom", "why", "panel", "save"}

// overlayOrder is lineOrder while a text lies over the panels: the arrows scroll it then
// and leave the load alone.
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
