package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sonde/probe/plan"
	"sonde/probe/slo"
)

// wanted describes what a field's text must look like.
func wanted(field any) error {
	switch field.(type) {
	case *bool:
		return errors.New("must be true or false")
	case *int, *int64:
		return errors.New("must be a whole number such as 8")
	case *uint64:
		return errors.New("must be a whole number of at least 0, such as 7")
	case *float64:
		return errors.New("must be a number such as 2.5")
	case *time.Duration, *Seconds:
		return errors.New("must be a time with its unit, such as 30s, 5m or 250ms")
	case *Warmup:
		return errors.New("must be a number of requests such as 5, or a time such as 5s")
	case *[]Header:
		return errors.New("must look like 'Name: value'")
	case *Count, *PerMinute:
		return errors.New("must be a number such as 6000, 6k or 1.5M")
	case *PerSecond:
		return errors.New("must be a rate such as 4 (per second) or 240/min")
	case *Fraction:
		return errors.New("must be a share such as 50% or 0.5")
	default:
		return errors.New("must be text in quotes")
	}
}

// setText reads a value as it is written on the command line and in the
// environment. Lists have an element per entry.
func setText(field any, text []string) error {
	last := strings.TrimSpace(text[len(text)-1])
	var err error
	switch f := field.(type) {
	case *string:
		*f = last
	case *bool:
		*f, err = strconv.ParseBool(last)
	case *int:
		*f, err = strconv.Atoi(last)
	case *int64:
		*f, err = strconv.ParseInt(last, 10, 64)
	case *uint64:
		*f, err = strconv.ParseUint(last, 10, 64)
	case *float64:
		*f, err = strconv.ParseFloat(last, 64)
		if math.IsNaN(*f) || math.IsInf(*f, 0) {
			err = strconv.ErrRange
		}
	case *time.Duration:
		*f, err = time.ParseDuration(last)
	case *Warmup:
		*f, err = parseWarmup(last)
	case *[]Header:
		*f, err = parseHeaders(text)
	case *Count:
		*(*float64)(f), err = parseCount(last)
	case *PerSecond:
		*(*float64)(f), err = parsePerSecond(last)
	case *PerMinute:
		*(*float64)(f), err = parsePerMinute(last)
	case *Seconds:
		*(*float64)(f), err = parseSeconds(last)
	case *Fraction:
		*(*float64)(f), err = parseFraction(last)
	case *[]slo.Target:
		*f, err = slo.Parse(last)
		return err // names the faulty part
	case *[]PlanLoad:
		*f, err = parsePlanLoads(text)
		return err
	case *[]plan.Limit:
		*f, err = parsePlanLimits(text)
		return err
	default:
		panic(fmt.Sprintf("config: no reader for %T", field))
	}
	if err != nil {
		return wanted(field)
	}
	return nil
}

// setTOML reads a value as the settings file has it. Types are strict: a number
// in quotes is a mistake there.
func setTOML(field, value any) error {
	switch v := value.(type) {
	case string:
		switch field.(type) {
		case *bool, *int, *int64, *float64:
			return wanted(field)
		}
		return setText(field, []string{v})
	case bool:
		if f, ok := field.(*bool); ok {
			*f = v
			return nil
		}
	case int64:
		switch field.(type) {
		case *int, *int64, *uint64, *float64, *Warmup, *Count, *PerSecond, *PerMinute, *Fraction:
			return setText(field, []string{strconv.FormatInt(v, 10)})
		}
	case float64:
		switch field.(type) {
		case *float64, *Count, *PerSecond, *PerMinute, *Fraction:
			return setText(field, []string{strconv.FormatFloat(v, 'f', -1, 64)})
		}
	case []any:
		switch field.(type) {
		case *[]Header, *[]PlanLoad:
			return setTexts(field, v)
		}
	}
	return wanted(field)
}

// setTexts reads a TOML list of texts.
func setTexts(field any, list []any) error {
	var text []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return wanted(field)
		}
		text = append(text, s)
	}
	if len(text) == 0 {
		return nil
	}
	return setText(field, text)
}

// tomlValue is a field's value in the types of TOML.
func tomlValue(field any) any {
	switch f := field.(type) {
	case *string:
		return *f
	case *bool:
		return *f
	case *int:
		return *f
	case *int64:
		return *f
	case *uint64:
		if *f > math.MaxInt64 { // TOML's numbers end there
			return strconv.FormatUint(*f, 10)
		}
		return *f
	case *float64:
		return *f
	case *time.Duration:
		return f.String()
	case *Warmup:
		if f.Duration == 0 {
			return f.Requests
		}
		return f.Duration.String()
	case *[]Header:
		lines := []string{}
		for _, h := range *f {
			lines = append(lines, h.Name+": "+h.Value)
		}
		return lines
	case *[]slo.Target:
		return slo.Join(*f)
	case *Count, *PerSecond, *Fraction:
		return number(field)
	case *PerMinute:
		return math.Round(float64(*f)*60e6) / 1e6
	case *Seconds:
		return time.Duration(math.Round(float64(*f) * float64(time.Second))).String()
	case *[]PlanLoad:
		lines := []string{}
		for _, l := range *f {
			lines = append(lines, l.Text)
		}
		return lines
	case *[]plan.Limit:
		return joinLimits(*f)
	}
	panic(fmt.Sprintf("config: no writer for %T", field))
}

func parseWarmup(s string) (Warmup, error) {
	if n, err := strconv.Atoi(s); err == nil {
		return Warmup{Requests: n}, nil
	}
	d, err := time.ParseDuration(s)
	return Warmup{Duration: d}, err
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
