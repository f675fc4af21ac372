package canary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sonde/probe/diagnose"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/plain"
	"sonde/probe/units"
)

// report is a target's state in JSON.
type report struct {
	Time     string       `json:"time"`
	Target   string       `json:"target"`
	Endpoint string       `json:"endpoint"`
	Model    *string      `json:"model"`
	State    string       `json:"state"`
	Was      string       `json:"was,omitempty"`
	WasForS  opt.Float    `json:"was_for_s,omitzero"`
	Verdict  verdictWords `json:"verdict"`
	TTFT     opt.Float    `json:"ttft_ms"`
	TPOT     opt.Float    `json:"tpot_ms"`
	E2E      opt.Float    `json:"e2e_ms"`
	Setup    opt.Float    `json:"setup_ms"`
	Class    string       `json:"class,omitempty"` // of the failure of the newest probe
	Error    string       `json:"error,omitempty"`
}

type verdictWords struct {
	Rule     diagnose.Rule `json:"rule"`
	Severity string        `json:"severity"`
	Says     string        `json:"says"`
	Evidence []string      `json:"evidence"`
	Advice   string        `json:"advice,omitempty"`
}

func reportOf(r *Row, at time.Time) report {
	out := report{
		Time: at.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Target: r.Target.Name, Endpoint: r.Target.Endpoint,
		State: r.State.String(), TTFT: r.TTFT, TPOT: r.TPOT, E2E: r.E2E, Setup: r.Setup,
		Verdict: verdictWords{r.Verdict.Rule, r.Verdict.Severity.String(), r.Verdict.Text, append([]string{}, r.Verdict.Evidence...), r.Verdict.Advice},
	}
	if r.Model != "" {
		out.Model = &r.Model
	}
	if c := r.Last.Class; c != measure.OK {
		out.Class, out.Error = string(c), r.Last.Error
	}
	return out
}

// JSON is the change as one line.
func (c *Change) JSON() string {
	r := reportOf(&c.Row, c.At)
	r.Was, r.WasForS = c.Was.String(), opt.Of(c.WasFor.Seconds())
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(r) // texts and known numbers cannot fail
	return strings.TrimSuffix(out.String(), "\n")
}

// longestLine bounds what a server can make of a line.
const longestLine = 1000 // characters

// Text is the change as one line for people.
func (c *Change) Text() string {
	r := &c.Row
	says := r.Label() + ": " + r.Verdict.Text
	if c.Was != Unknown {
		says += fmt.Sprintf(" (was %s for %s)", c.Was, units.Span(c.WasFor.Round(time.Second)))
	}
	return fmt.Sprintf("%s %-7s %s", c.At.Local().Format("2006-01-02 15:04:05"), r.State, plain.Line(says, longestLine))
}

// Label names the target with its model.
func (r *Row) Label() string {
	if model := cmp.Or(r.Model, r.Target.Model); model != "" {
		return r.Target.Name + " " + model
	}
	return r.Target.Name
}
