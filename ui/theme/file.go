package theme

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sonde/probe/plain"
)

// Parse finds a theme by its name, or reads it from a file: colours by meaning, in TOML.
//
//	base = "light"           # where colours come from that are not named here
//	p50 = 26                 # of the palette of 256
//	p95 = "#af5f00"
//	gaps = [26, 26, 26, 126, 130]
func Parse(name string) (Theme, error) {
	if slices.Contains(Names, name) {
		return Theme{Name: name}, nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return Theme{}, fmt.Errorf("must be %s, or a TOML file of colours (%w)", strings.Join(Names, ", "), plain.Cause(err))
	}
	var values map[string]any
	if err := toml.Unmarshal(raw, &values); err != nil {
		return Theme{}, errors.New(place(err) + strings.TrimPrefix(err.Error(), "toml: "))
	}
	v, err := read(values)
	if err != nil {
		return Theme{}, err
	}
	return Theme{name, &v}, nil
}

// place is where in a file an error is.
func place(err error) string {
	var syntax *toml.DecodeError
	if !errors.As(err, &syntax) {
		return ""
	}
	line, column := syntax.Position()
	return fmt.Sprintf("line %d, column %d: ", line, column)
}

// read makes a theme from what a file says.
func read(values map[string]any) (v variants, err error) {
	base, isText := values["base"].(string)
	if values["base"] == nil {
		base, isText = Names[0], true
	}
	v, known := builtIn[base]
	if !isText || !known {
		return v, fmt.Errorf("base must be %s", strings.Join(Names, ", "))
	}
	v.mono = false
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := v.set(key, values[key]); err != nil {
			return v, fmt.Errorf("%s %w", key, err)
		}
	}
	return v, nil
}

// set takes one key of a file.
func (v *variants) set(key string, value any) error {
	var is bool
	switch key {
	case "base":
		return nil
	case "light":
		if v.light, is = value.(bool); !is {
			return errors.New("must be true or false")
		}
		return nil
	case "gaps":
		return v.setGaps(value)
	}
	many, few := v.many.meanings()[key], v.few.meanings()[key]
	if many == nil {
		known := append(slices.Collect(maps.Keys(v.many.meanings())), "base", "light", "gaps")
		slices.Sort(known)
		return errors.New("is an unknown key: must be one of " + strings.Join(known, ", "))
	}
	colour, err := colourOf(value)
	*many, *few = colour, colour
	return err
}

func (v *variants) setGaps(value any) error {
	list, _ := value.([]any)
	if len(list) != len(v.many.gaps) {
		return fmt.Errorf("must be a list of %d colours, from short gaps to long ones", len(v.many.gaps))
	}
	for i := range list {
		colour, err := colourOf(list[i])
		if err != nil {
			return err
		}
		v.many.gaps[i], v.few.gaps[i] = colour, colour
	}
	return nil
}

// meanings are the colours by the keys of a file.
func (c *colours) meanings() map[string]*string {
	return map[string]*string{
		"dim": &c.dim, "border": &c.border, "accent": &c.accent, "mark": &c.mark, "slo": &c.slo,
		"p50": &c.p50, "p95": &c.p95, "p99": &c.p99, "first": &c.first, "second": &c.second,
		"good": &c.good, "note": &c.note, "warn": &c.warn, "bad": &c.bad, "calm": &c.calm,
	}
}

var hexadecimal = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// colourOf reads a colour; empty text is the terminal's own.
func colourOf(value any) (string, error) {
	switch v := value.(type) {
	case int64:
		if v >= 0 && v <= 255 {
			return strconv.FormatInt(v, 10), nil
		}
	case string:
		if v == "" || hexadecimal.MatchString(v) {
			return v, nil
		}
	}
	return "", errors.New(`must be a colour: 0 to 255, "#rrggbb", or "" for the terminal's own`)
}
