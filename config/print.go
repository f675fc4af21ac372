package config

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"

	"sonde/probe/plain"
)

// print writes the settings in force as a settings file, with the place that each
// came from. What would show a secret, and what has no value, is commented out.
func (r *resolved) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Current settings of `%s`, and where each comes from.\n", strings.TrimSpace("sonde "+r.command.name))
	fmt.Fprintf(&b, "# File: %s\n", cmp.Or(r.file.path, "(no home directory)"))
	group := ""
	safe := r.config.Redacted()
	shown := r.command.settings(&safe)
	for i, s := range r.settings {
		if s.noFile {
			continue
		}
		if s.group != group {
			group = s.group
			fmt.Fprintf(&b, "\n# %s\n", group)
		}
		line, err := r.line(s, formOf(shown[i].field).toml)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%-38s # %s; %s\n", line, r.origins[s.key], s.help)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line is "key = value" in TOML. Dotted keys need no table, so order is free.
func (r *resolved) line(s setting, shown any) (string, error) {
	text, err := toml.Parser().Marshal(map[string]any{"x": shown})
	if err != nil {
		return "", err
	}
	line := s.key + strings.TrimPrefix(strings.TrimSpace(string(text)), "x")
	secret := !reflect.DeepEqual(shown, formOf(s.field).toml)
	if unset := !r.given(s.key) && s.initial == "" && s.arg != ""; secret || unset {
		line = "# " + line
	}
	return line, nil
}

const hidden = "hidden"

// Redacted is a copy for logs, reports and screens: without the key, header
// values, user parts of addresses and query values that may be credentials.
func (c Config) Redacted() Config {
	if c.APIKey != "" {
		c.APIKey = hidden
	}
	c.Headers = slices.Clone(c.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = hidden
	}
	c.Canary.Each = slices.Clone(c.Canary.Each)
	for i := range c.Canary.Each {
		c.Canary.Each[i] = c.Canary.Each[i].Redacted()
	}
	for _, address := range []*string{&c.URL, &c.Metrics, &c.GPU, &c.Prometheus} {
		*address = plain.RedactURL(*address)
	}
	return c
}

// String is the redacted form, so that no accidental print shows a secret.
func (c Config) String() string {
	type safe Config
	return fmt.Sprintf("%+v", safe(c.Redacted()))
}

// GoString is String.
func (c Config) GoString() string { return c.String() }
