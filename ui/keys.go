package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"sonde/ui/text"
	"sonde/ui/theme"
)

// command is one key of the screen: its binding, what it does, and whether the
// key line shows it. Commands that follow each other with the same description
// are one line of the help.
type command struct {
	binding key.Binding
	do      func(m *model, key string) tea.Cmd
	line    string // the word in the key line, "" if it is only in the help
}

// commands is the key map. Everything that lists keys (the key line, the help,
// the documentation) is made from it.
func commands() []command {
	on := func(help, text, line string, do func(*model) tea.Cmd, keys ...string) command {
		return command{
			binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, text)),
			do:      func(m *model, _ string) tea.Cmd { return do(m) },
			line:    line,
		}
	}
	return []command{
		on("↑", "raise or lower the concurrency by one (also + −); open loop: the rate", "concurrency", (*model).moreLoad, "up", "+", "="),
		on("↓", "raise or lower the concurrency by one (also + −); open loop: the rate", "concurrency", (*model).lessLoad, "down", "-", "_"),
		on("pgup", "double or halve it", "", (*model).doubleLoad, "pgup"),
		on("pgdn", "double or halve it", "", (*model).halveLoad, "pgdown"),
		on("←", "prompt length", "prompt", (*model).shorterPrompt, "left"),
		on("→", "prompt length", "prompt", (*model).longerPrompt, "right"),
		on("[", "output length", "output", (*model).shorterOutput, "["),
		on("]", "output length", "output", (*model).longerOutput, "]"),
		on("p", "next prompt prefix: unique, shared, same", "", (*model).nextPrefix, "p"),
		on("0", "stop: send no new requests, let running ones finish", "stop", (*model).stopLoad, "0"),
		on("x", "abort: cancel all requests in flight", "", (*model).abort, "x"),
		on("l", "send one long prompt and see how it affects the others", "long prompt", (*model).fireLong, "l"),
		on("s", "sweep through loads: start, stop, resume (S: restart)", "sweep", (*model).toggleSweep, "s"),
		on("S", "sweep through loads: start, stop, resume (S: restart)", "", (*model).startSweep, "S"),
		on("t", "levels: table, curve, knee", "levels", (*model).toggleLevels, "t"),
		on("a", "levels: revisiting a level adds to its results, or replaces them", "", (*model).toggleReplace, "a"),
		on("d", "embedded engine: chunked prefill, faults, incidents", "", (*model).toggleRehearsal, "d"),
		on("tab", "next or previous panel", "panel", (*model).nextPanel, "tab"),
		on("⇧tab", "next or previous panel", "", (*model).previousPanel, "shift+tab"),
		{binding: key.NewBinding(key.WithKeys("1", "2", "3", "4", "5", "6", "7", "8"),
			key.WithHelp("1…8", "go to load, TTFT, TPOT, gap, tokens/s, GPU, KV, streams")), do: (*model).goToPanel},
		on("z", "zoom the panel (also enter)", "zoom", (*model).toggleZoom, "z", "enter"),
		on("esc", "back", "back", (*model).back, "esc"),
		on("i", "explain the panel: definition, source, window, age", "", (*model).toggleExplain, "i"),
		on("v", "all verdicts, with evidence and advice", "why", (*model).toggleVerdicts, "v"),
		on("n", "next replica of a fleet, fullest first; after the last one, all", "", (*model).nextReplica, "n"),
		on("m", "next model, where the metrics cover several", "", (*model).nextModel, "m"),
		on("space", "pause the display (measuring continues), or the recording", "pause", (*model).togglePause, "space"),
		on("r", "reset statistics", "", (*model).resetStatistics, "r"),
		on("w", "live window: 10, 30 or 60 s", "", (*model).nextWindow, "w"),
		on("e", "save the results and a picture of the screen", "save", (*model).save, "e"),
		on("?", "this help", "help", (*model).toggleHelp, "?", "h"),
		on("ctrl+l", "redraw the screen", "", (*model).redraw, "ctrl+l"),
		on("ctrl+z", "suspend", "", (*model).suspend, "ctrl+z"),
		on("q", "quit", "quit", (*model).quit, "q"),
		on("ctrl+c", "force quit", "", (*model).interrupt, "ctrl+c"),
		on(",", "recording: seek −10 s / +10 s", "10 s", (*model).littleBack, ","),
		on(".", "recording: seek −10 s / +10 s", "10 s", (*model).littleForward, "."),
		on("<", "recording: seek −1 min / +1 min", "minute", (*model).minuteBack, "<"),
		on(">", "recording: seek −1 min / +1 min", "minute", (*model).minuteForward, ">"),
		on("home", "recording: go to the start or the end", "", (*model).toStart, "home"),
		on("end", "recording: go to the start or the end", "", (*model).toEnd, "end"),
		on("{", "recording: slower or faster", "speed", (*model).slower, "{"),
		on("}", "recording: slower or faster", "speed", (*model).faster, "}"),
	}
}

// find is the command of a key, nil if it has none.
func find(all []command, msg tea.KeyPressMsg) *command {
	for i := range all {
		if key.Matches(msg, all[i].binding) {
			return &all[i]
		}
	}
	return nil
}

// hint is one line of the help: the keys of one description.
type hint struct{ keys, text, line string }

// hints joins neighbours that do the two halves of one thing.
func hints(all []command) []hint {
	var out []hint
	for _, c := range all {
		h := c.binding.Help()
		if n := len(out); n > 0 && out[n-1].text == h.Desc {
			out[n-1].keys += " " + h.Key
			continue
		}
		out = append(out, hint{h.Key, h.Desc, c.line})
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
				parts = append(parts, t.Accent.Render(strings.ReplaceAll(h.keys, " ", ""))+" "+t.Dim.Render(h.line))
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
