package doctor

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sonde/probe/plain"
)

// ReportSchema names the form of a Report in JSON.
const ReportSchema = "sonde/doctor/1"

// State is how a check came out.
type State string

// States of a check.
const (
	OK      State = "ok"
	Missing State = "missing" // measuring works without it
	Failed  State = "failed"  // measuring does not
	Skipped State = "skipped" // not examined, by the user's choice
)

// Check is one line of the checklist.
type Check struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	State   State  `json:"state"`
	Found   string `json:"says"`         // what was found
	Advice  string `json:"do,omitempty"` // what to advice about it

	Way    string `json:"way,omitempty"`    // what was examined by: a URL without credentials, a library
	Rights string `json:"rights,omitempty"` // what we identified ourselves with, never its value
	Need   Need   `json:"need,omitempty"`   // what an administrator can allow with one command
}

// Report is the whole checklist.
type Report struct {
	Schema string  `json:"schema"`
	URL    string  `json:"url"`   // without credentials; "" is this machine only
	Ready  bool    `json:"ready"` // nothing that measuring needs has failed
	Checks []Check `json:"checks"`
}

// section adds checks under one heading.
type section struct {
	report *Report
	title  string

	way, rights string
	need        Need
}

func (r *Report) section(title string) section { return section{report: r, title: title} }

// via is the section for checks that are made that way, with those rights.
func (s section) via(way, rights string) section {
	s.way, s.rights = way, rights
	return s
}

// needs is the section for a check that a command would turn into OK.
func (s section) needs(n Need) section {
	s.need = n
	return s
}

func (s section) ok(name, found string)              { s.add(name, OK, found, "") }
func (s section) missing(name, found, advice string) { s.add(name, Missing, found, advice) }
func (s section) failed(name, found, advice string)  { s.add(name, Failed, found, advice) }
func (s section) skipped(name, found string)         { s.add(name, Skipped, found, "") }

// add files a check. Texts may come from a server: nothing in them steers a
// terminal.
func (s section) add(name string, state State, found, advice string) {
	s.report.Checks = append(s.report.Checks, Check{
		Section: s.title, Name: name, State: state, Found: oneLine(found), Advice: oneLine(advice),
		Way: oneLine(s.way), Rights: s.rights, Need: s.need,
	})
}

// conclude decides from the checks whether measuring works.
func (r *Report) conclude() { r.Ready = r.count(Failed) == 0 }

func (r *Report) count(state State) (n int) {
	for _, c := range r.Checks {
		if c.State == state {
			n++
		}
	}
	return n
}

// ExitCode is that of the command: 1 if measuring does not work.
func (r *Report) ExitCode() int {
	if r.Ready {
		return 0
	}
	return 1
}

// verdict is the last line.
func (r *Report) verdict() string {
	switch {
	case r.count(Failed) > 0:
		return fmt.Sprintf("Not ready to measure: %d failed.", r.count(Failed))
	case r.count(Missing) > 0:
		return fmt.Sprintf("Ready to measure; %d could be better.", r.count(Missing))
	}
	return "Ready to measure."
}

const (
	stateWidth = 9
	nameWidth  = 16
)

// Text is the checklist for people, in lines of at most width cells; color marks
// the states.
func (r *Report) Text(width int, color bool) string {
	var b strings.Builder
	open := ""
	for _, c := range r.Checks {
		if c.Section != open {
			open = c.Section
			fmt.Fprintf(&b, "%s\n", strings.TrimSpace(open))
		}
		found := c.Found
		if c.Advice != "" {
			found += "\n→ " + c.Advice
		}
		indent := 2 + stateWidth + nameWidth
		mark := fmt.Sprintf("%-*s", stateWidth, c.State)
		if color {
			mark = "\x1b[" + stateColor[c.State] + "m" + mark + "\x1b[0m"
		}
		body := wrapped(found, max(20, width-indent))
		body = strings.ReplaceAll(body, "\n", "\n"+strings.Repeat(" ", indent))
		fmt.Fprintf(&b, "  %s%-*s%s\n", mark, nameWidth, c.Name, body)
	}
	fmt.Fprintf(&b, "\n%s\n", r.verdict())
	return b.String()
}

// wrapped breaks lines at spaces. A flag such as --gpu stays whole, for which its
// hyphens pass for ones that do not break.
func wrapped(text string, width int) string {
	const hyphen, unbroken = "-", "\u2011"
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, hyphen, unbroken), width, ""), unbroken, hyphen)
}

var stateColor = map[State]string{OK: "32", Missing: "33", Failed: "31", Skipped: "2"}

// longestLine bounds what a check says.
const longestLine = 400

// oneLine removes everything that could steer a terminal: texts come from servers.
func oneLine(s string) string { return plain.Line(s, longestLine) }
