package ui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/length"
	"sonde/probe/prompt"
	"sonde/probe/slo"
	"sonde/probe/sweep"
	"sonde/ui/panel"
	"sonde/ui/theme"
)

// word is a command of the command line. It has the name of the flag that sets the same, whose
// parser reads its value.
type word struct {
	names  []string
	form   string   // what its value is
	values []string // that complete it
	needs  need
	now    func(*model) string        // the value that holds; nil: the command takes none
	set    func(*model, string) error // the error completes the name
}

// words are all commands of the command line.
func words() []word {
	return []word{
		{[]string{"concurrency", "c"}, "streams in flight; open loop: a cap", nil, needLoad,
			func(m *model) string { return strconv.Itoa(m.Controls.Load().Concurrency) }, setConcurrency},
		{[]string{"input", "i"}, "prompt tokens: N, N±M, N..M", nil, needLoad,
			func(m *model) string { return panel.PromptLength(m.Controls.Load()) }, setInput},
		{[]string{"output", "o"}, "answer tokens: N, N±M, N..M", nil, needLoad,
			func(m *model) string { return panel.OutputLength(m.Controls.Load()) }, setOutput},
		{[]string{"rate"}, "requests per second, or 1..20/10m; 0: one stream", nil, needLoad,
			func(m *model) string { return rateText(m.Controls.Load()) }, setRate},
		{[]string{"arrivals"}, "poisson, constant or gamma:CV", []string{"poisson", "constant", "gamma:2"}, needLoad,
			func(m *model) string { return m.Controls.Load().Arrivals.String() }, setArrivals},
		{[]string{"prefix"}, "unique, shared or same", []string{"unique", "shared", "same"}, needLoad,
			func(m *model) string { return m.Controls.Load().Prefix }, setPrefix},
		{[]string{"slo"}, "SLOs, such as ttft_p95=1s,success=99.9; off", []string{"ttft_p95=", "tpot_p95=", "gap_p99=", "e2e_p95=", "success=", "off"}, needControls,
			func(m *model) string { return slo.Join(m.live.SLOs) }, setSLOs},
		{[]string{"window"}, "10, 30 or 60 s", []string{"10", "30", "60"}, needControls,
			func(m *model) string { return m.live.Frame.Client.Window.String() }, setWindow},
		{[]string{"theme"}, strings.Join(theme.Names, ", ") + ", FILE", theme.Names, needNothing,
			func(m *model) string { return m.Theme.String() }, setTheme},
		{[]string{"quit", "q"}, "ends the session", nil, needNothing, nil, func(m *model, _ string) error { m.then = tea.Quit; return nil }},
	}
}

// offeredWords are those that the help lists; see offered.
func (m *model) offeredWords() []word {
	if !m.live.Frame.Load.Watch {
		return words()
	}
	return slices.DeleteFunc(words(), func(w word) bool { return sends(w.needs) })
}

// wordNamed is the command of that name; nil if there is none.
func wordNamed(name string) *word {
	all := words()
	at := slices.IndexFunc(all, func(w word) bool { return slices.Contains(w.names, name) })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// wordNames are the long names.
func wordNames() (all []string) {
	for _, w := range words() {
		all = append(all, w.names[0])
	}
	return all
}

// completions are the longer lines that begin as what was typed.
func completions(typed string) (longer []string) {
	name, _, hasValue := strings.Cut(typed, " ")
	var all []string
	if w := wordNamed(name); w != nil && hasValue {
		for _, v := range w.values {
			all = append(all, name+" "+v)
		}
	} else if !hasValue {
		for _, n := range wordNames() {
			all = append(all, n+" ")
		}
	}
	for _, c := range all {
		if typed != "" && len(c) > len(typed) && strings.HasPrefix(c, typed) {
			longer = append(longer, c)
		}
	}
	return longer
}

// hintFor says how what was typed may go on.
func hintFor(typed string) string {
	name, _, _ := strings.Cut(typed, " ")
	if w := wordNamed(name); w != nil {
		return w.form
	}
	var fit []string
	for _, n := range wordNames() {
		if strings.HasPrefix(n, name) {
			fit = append(fit, n)
		}
	}
	return strings.Join(fit, " ")
}

// carryOut does what was typed. A name alone says which value holds.
func (m *model) carryOut(typed string) error {
	name, value, _ := strings.Cut(typed, " ")
	value = strings.TrimSpace(value)
	w := wordNamed(name)
	if w == nil {
		return fmt.Errorf("there is no command %q: %s", name, strings.Join(wordNames(), ", "))
	}
	if why := m.lacks(w.needs); why != "" {
		return errors.New(why)
	}
	if value == "" && w.now != nil {
		now := w.now(m)
		if now == "" {
			now = "none"
		}
		m.say(w.names[0]+" is "+now+" ("+w.form+")", m.theme.Note)
		return nil
	}
	switch err := w.set(m, value); {
	case errors.Is(err, errRefused):
		return nil
	case err != nil:
		return fmt.Errorf("%s %w", w.names[0], err)
	case w.needs == needLoad:
		m.say("load now: "+loadText(m.Controls.Load()), m.theme.Note)
	}
	return nil
}

// errRefused is returned for a valid value that cannot be set now. A notice says why.
var errRefused = errors.New("refused")

// setConcurrency also stops a trace, and starts a stopped one again under a new cap.
func setConcurrency(m *model, value string) error {
	n, err := strconv.Atoi(value)
	most := m.live.Frame.Load.Max
	switch {
	case err != nil || n < 0:
		return errors.New("must be a whole number such as 8")
	case most > 0 && n > most:
		return fmt.Errorf("must be 0 to %d (raise --max-concurrency for more)", most)
	case n > 0 && m.Controls.Load().Concurrency > 0 && m.fixed():
		return errRefused
	case n == 0:
		m.stopLoad()
		return nil
	}
	m.change(func(l *frame.Load) { l.Concurrency = n })
	return nil
}

func setInput(m *model, value string) error {
	n, err := length.Parse(value)
	if err == nil && !m.changePrompts(func(l *frame.Load) { l.InputTokens, l.InputShape = n.Mean, n.Shape }) {
		return errRefused
	}
	return err
}

func setOutput(m *model, value string) error {
	n, err := length.Parse(value)
	switch {
	case err != nil:
		return err
	case m.fixed():
		return errRefused
	}
	m.change(func(l *frame.Load) { l.OutputTokens, l.OutputShape = n.Mean, n.Shape })
	return nil
}

// setRate goes from streams to a schedule under the cap, and back to one stream.
func setRate(m *model, value string) error {
	r, err := arrivals.ParseRate(value)
	switch {
	case err != nil:
		return err
	case m.fixed():
		return errRefused
	}
	m.change(func(l *frame.Load) {
		switch {
		case r.To == 0 && l.Rate > 0:
			l.Concurrency = 1
		case r.To > 0 && (l.Rate == 0 || l.Concurrency == 0):
			l.Concurrency = max(1, m.live.Frame.Load.Max)
		}
		l.Rate, l.Ramp = r.To, r.Ramp
	})
	return nil
}

func setArrivals(m *model, value string) error {
	p, err := arrivals.Parse(value)
	switch {
	case err != nil:
		return err
	case m.Controls.Load().Rate <= 0:
		return errors.New("are of an open loop: :rate 4 sends on a schedule")
	case m.fixed():
		return errRefused
	}
	m.change(func(l *frame.Load) { l.Arrivals = p })
	return nil
}

func setPrefix(m *model, value string) error {
	if !slices.Contains(prompt.Prefixes, prompt.Prefix(value)) {
		return errors.New("must be unique, shared or same")
	}
	if !m.changePrompts(func(l *frame.Load) { l.Prefix = value }) {
		return errRefused
	}
	return nil
}

func setSLOs(m *model, value string) error {
	switch {
	case m.SetSLOs == nil:
		return errors.New("cannot be changed here")
	case m.live.Sweep.State == sweep.Running:
		return errors.New("cannot be changed during a sweep: s stops it")
	case value == "off":
		value = ""
	}
	targets, err := slo.Parse(value)
	if err != nil {
		return err
	}
	m.SetSLOs(targets)
	m.live.SLOs = targets
	m.redrawAll()
	m.say("SLOs are judged from now on; the levels begin anew", m.theme.Note)
	return nil
}

func setWindow(m *model, value string) error {
	seconds, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(value, "s")))
	if err != nil || !slices.Contains(liveWindows[:], seconds) {
		return errors.New("must be 10, 30 or 60 seconds")
	}
	m.chooseWindow(seconds)
	return nil
}

func setTheme(m *model, value string) error {
	t, err := theme.Parse(value)
	if err != nil {
		return err
	}
	m.Theme = t
	m.theme.Wear(t)
	m.redrawAll()
	m.say("theme "+t.String(), m.theme.Note)
	return nil
}

// redrawAll has every panel drawn again, whether or not its data changed.
func (m *model) redrawAll() { m.panels = panel.All() }
