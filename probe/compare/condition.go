package compare

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"sonde/probe/measure"
	"sonde/probe/report"
	"sonde/probe/units"
)

// Condition is a change at which a comparison fails.
type Condition struct {
	Text   string // as it was given, such as "ttft_p95>+10%"
	Figure string
	above  bool
	limit  float64 // in the unit of the figure's change
}

func (c Condition) String() string { return c.Text }

// conditionForm is NAME, < or >, a change, and what that is counted in.
var conditionForm = regexp.MustCompile(`^([a-z0-9_]+)\s*([<>])\s*([+-]?[0-9]*\.?[0-9]+)\s*(%|points?|)$`)

// ParseConditions reads conditions, each a list such as "ttft_p95>+10%,error_share>+1points".
// Errors name the faulty part.
func ParseConditions(texts []string) ([]Condition, error) {
	var all []Condition
	for part := range strings.SplitSeq(strings.Join(texts, ","), ",") {
		c, err := parseCondition(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%q %w", strings.TrimSpace(part), err)
		}
		all = append(all, c)
	}
	return all, nil
}

func parseCondition(text string) (Condition, error) {
	parts := conditionForm.FindStringSubmatch(text)
	if parts == nil {
		return Condition{}, errors.New("must look like ttft_p95>+10% or output_tokens_per_s<-5%")
	}
	f := comparedNamed(parts[1])
	if f == nil {
		return Condition{}, fmt.Errorf("names no figure: there are %s", strings.Join(names(), ", "))
	}
	change, err := strconv.ParseFloat(parts[3], 64)
	if err != nil || math.IsInf(change, 0) {
		return Condition{}, errors.New("needs a number")
	}
	c := Condition{Text: text, Figure: f.name, above: parts[2] == ">", limit: change / 100}
	switch unit := parts[4]; {
	case f.kind.ratio() && unit != "%":
		return c, errors.New("needs a change in percent, such as +10%")
	case f.kind == share && !strings.HasPrefix(unit, "point"):
		return c, errors.New("is about a share: its change is in percentage points, such as +1points")
	case f.kind == number && unit != "":
		return c, errors.New("is about a number: its change is a number, such as +2")
	case f.kind == number:
		c.limit = change
	}
	return c, nil
}

// names are those of the figures; the latencies are abbreviated.
func names() []string {
	var metrics, parts []string
	for _, m := range measure.Metrics[1:] {
		metrics = append(metrics, m.Name)
	}
	for _, s := range statistics {
		parts = append(parts, s.name)
	}
	out := []string{fmt.Sprintf("%s_p95 (also %s; %s)", measure.Metrics[0].Name, strings.Join(metrics, ", "), strings.Join(parts, ", "))}
	for i := range figures {
		if figures[i].kind != millis {
			out = append(out, figures[i].name)
		}
	}
	for i := range capacities {
		out = append(out, capacities[i].name)
	}
	return out
}

// ConditionResult is how a Condition came out.
type ConditionResult struct {
	Condition string `json:"condition"`
	Failed    bool   `json:"failed"`
	Says      string `json:"says"`
}

// judge fails if the measured change is beyond the limit and, with runs enough to tell, a
// difference is shown; at any level. What is unknown on a side fails too: a gate must not
// open because a figure is missing.
func (k *Condition) judge(c *Comparison) ConditionResult {
	out := ConditionResult{Condition: k.Text}
	var held, within []string
	c.every(func(where string, f *Figure) {
		if f.Name != k.Figure || !f.Change.OK {
			return
		}
		text := f.changeText()
		if len(c.Levels) > 1 && where != "" {
			text += " at " + where
		}
		beyond := k.above && f.Change.V > k.limit || !k.above && f.Change.V < k.limit
		switch {
		case beyond && (f.Differs || !c.CanShow):
			held = append(held, text)
		case beyond:
			within = append(within, text+", which is not shown to be a difference")
		default:
			within = append(within, text)
		}
	})
	switch {
	case len(held) > 0:
		out.Failed, out.Says = true, strings.Join(held, "; ")
		if !c.CanShow {
			out.Says += " (too few runs to tell it from chance)"
		}
	case len(within) > 0:
		out.Says = strings.Join(within, "; ")
	default:
		out.Failed, out.Says = true, "unknown on one side or both"
	}
	return out
}

// changeText is the change with its sign and unit.
func (f *Figure) changeText() string { return f.figure.kind.signed(f.Change) }

// signed writes a change.
func (k kind) signed(v report.Number) string {
	switch {
	case !v.OK:
		return units.Unknown
	case k.ratio() && v.V >= 10:
		return fmt.Sprintf("%+.0f %%", 100*v.V)
	case k.ratio():
		return fmt.Sprintf("%+.1f %%", rounded(100*v.V, 10))
	case k == share:
		return fmt.Sprintf("%+.2f points", rounded(100*v.V, 100))
	}
	return fmt.Sprintf("%+.2f", rounded(v.V, 100))
}

// rounded has no negative zero.
func rounded(v, steps float64) float64 { return math.Round(v*steps)/steps + 0 }
