package config

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
)

// print writes the settings in force as a settings file, with the place that each
// came from. What would show a secret, and what has no value, is commented out.
func (r *resolved) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Settings of `%s` in force, and where each came from.\n", strings.TrimSpace("sonde "+r.command.name))
	fmt.Fprintf(&b, "# As a file: %s\n", orElse(r.file.path, "(no home directory)"))
	group := ""
	for _, s := range r.command.settings() {
		if s.noFile {
			continue
		}
		if s.group != group {
			group = s.group
			fmt.Fprintf(&b, "\n# %s\n", group)
		}
		line, err := r.line(s)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%-38s # %s; %s\n", line, r.origins[s.key], s.help)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line is "key = value" in TOML. Dotted keys need no table, so order is free.
func (r *resolved) line(s setting) (string, error) {
	safe := r.config.Redacted()
	value := tomlValue(s.field(&safe))
	text, err := toml.Parser().Marshal(map[string]any{"x": value})
	if err != nil {
		return "", err
	}
	line := s.key + strings.TrimPrefix(strings.TrimSpace(string(text)), "x")
	secret := !reflect.DeepEqual(value, tomlValue(s.field(&r.config)))
	if unset := r.origins[s.key].rank == rankDefault && s.initial == "" && s.arg != ""; secret || unset {
		line = "# " + line
	}
	return line, nil
}
