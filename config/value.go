package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/compare"
	"sonde/probe/length"
	"sonde/probe/plan"
	"sonde/probe/slo"
	"sonde/ui/theme"
)

// form is how a setting's value is written, by the type of its field.
type form struct {
	must  string               // completes "must"; "" where the errors of read name the faulty part
	takes tomlType             // types of TOML that the settings file may use
	read  func([]string) error // sets the value. Lists have an element per entry
	toml  any                  // the value, in the types of TOML
}

// tomlType is a set of TOML's types.
type tomlType int

const (
	tomlText tomlType = 1 << iota
	tomlBool
	tomlNumber
	tomlList
)

// formOf returns the form of a field, given as a pointer to it or to what is measured there.
func formOf(field any) form {
	switch f := field.(type) {
	case *string:
		return single(f, "be text in quotes", tomlText, func(s string) (string, error) { return s, nil }, *f)
	case *bool:
		return single(f, "be true or false", tomlBool, strconv.ParseBool, *f)
	case *int:
		return single(f, "be a whole number such as 8", tomlNumber, strconv.Atoi, *f)
	case *int64:
		return single(f, "be a whole number such as 8", tomlNumber, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }, *f)
	case *uint64:
		return single(f, "be a whole number of at least 0, such as 7", tomlNumber|tomlText, parseUnsigned, unsigned(*f))
	case *float64:
		return single(f, "be a number such as 2.5", tomlNumber, parseFinite, *f)
	case *time.Duration:
		return single(f, mustBeTime, tomlText, parseDuration, f.String())
	case *Warmup:
		return single(f, "be a number of requests such as 5, or a time such as 5s", tomlNumber|tomlText, parseWarmup, f.toml())
	case *measured:
		return single(f.value, f.must, f.takes, f.parse, f.toml(*f.value))
	case *length.Length:
		return single(f, "", tomlNumber|tomlText, length.Parse, lengthTOML(*f))
	case *arrivals.Rate:
		return single(f, "", tomlNumber|tomlText, arrivals.ParseRate, rateTOML(*f))
	case *arrivals.Process:
		return single(f, "", tomlText, arrivals.Parse, f.String())
	case *theme.Theme:
		return single(f, "", tomlText, theme.Parse, f.String())
	case *[]Header:
		return list(f, "look like 'Name: value'", tomlText|tomlList, parseHeaders, lines(*f))
	case *[]slo.Target:
		return single(f, "", tomlText, slo.Parse, slo.Join(*f))
	case *[]PlanLoad:
		return list(f, "", tomlText|tomlList, parsePlanLoads, lines(*f))
	case *[]compare.Condition:
		return list(f, "", tomlText|tomlList, compare.ParseConditions, lines(*f))
	case *[]plan.Limit:
		return list(f, "", tomlText, parsePlanLimits, joinLimits(*f))
	}
	panic(fmt.Sprintf("config: no form for %T", field))
}

// list is the form of a value that all entries make together.
func list[T any](field *T, must string, takes tomlType, parse func([]string) (T, error), toml any) form {
	return form{must, takes, func(texts []string) (err error) {
		*field, err = parse(texts)
		return err
	}, toml}
}

// single is the form of a value that has one entry: the last one counts.
func single[T any](field *T, must string, takes tomlType, parse func(string) (T, error), toml any) form {
	return list(field, must, takes, func(texts []string) (T, error) { return parse(strings.TrimSpace(texts[len(texts)-1])) }, toml)
}

// set reads a value: texts from the command line or the environment, or what the
// settings file has. Types are strict there: a number in quotes is a mistake.
func (f form) set(value any) error {
	texts, is := []string{fmt.Sprint(value)}, tomlType(0)
	switch v := value.(type) {
	case []string:
		texts, is = v, f.takes
	case string:
		is = tomlText
	case bool:
		is = tomlBool
	case int64:
		is = tomlNumber
	case float64:
		texts[0], is = strconv.FormatFloat(v, 'f', -1, 64), tomlNumber
	case []any:
		if len(v) == 0 && f.takes&tomlList != 0 {
			return f.read(nil)
		}
		texts, is = textsOf(v), tomlList
	}
	if len(texts) > 0 && is&f.takes != 0 {
		err := f.read(texts)
		if err == nil || f.must == "" || err == errNegative {
			return err
		}
	}
	if f.must == "" {
		return errors.New("must be text in quotes")
	}
	return errors.New("must " + f.must)
}

// textsOf is a list of texts; nil if anything else is in it.
func textsOf(list []any) (texts []string) {
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil
		}
		texts = append(texts, s)
	}
	return texts
}

func parseFinite(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, strconv.ErrRange
	}
	return v, err
}

func parseUnsigned(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }

// unsigned is a number for TOML, or text beyond the end of TOML's numbers.
func unsigned(v uint64) any {
	if v > math.MaxInt64 {
		return strconv.FormatUint(v, 10)
	}
	return v
}

func parseWarmup(s string) (Warmup, error) {
	n, err := strconv.Atoi(s)
	if err == nil && n < 0 {
		return Warmup{}, errNegative
	}
	if err == nil {
		return Warmup{Requests: n}, nil
	}
	d, err := parseDuration(s)
	return Warmup{Duration: d}, err
}

// lengthTOML is a number where all lengths are the same.
func lengthTOML(l length.Length) any {
	if l.Shape == (length.Shape{}) {
		return l.Mean
	}
	return l.String()
}

// rateTOML is a number where the rate does not change.
func rateTOML(r arrivals.Rate) any {
	if r.Over == 0 {
		return r.To
	}
	return r.String()
}

func (w Warmup) toml() any {
	if w.Duration == 0 {
		return w.Requests
	}
	return w.Duration.String()
}

func parseHeaders(lines []string) ([]Header, error) {
	var headers []Header
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !found || name == "" {
			return nil, errors.New("no colon")
		}
		headers = append(headers, Header{name, strings.TrimSpace(value)})
	}
	return headers, nil
}

// lines writes each element of a list as one text.
func lines[T fmt.Stringer](list []T) []string {
	texts := []string{}
	for _, v := range list {
		texts = append(texts, v.String())
	}
	return texts
}
