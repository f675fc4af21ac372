package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// resolved is a Config with the origin of each of its values.
type resolved struct {
	command  command
	config   Config
	settings []setting         // of the command; their values are in config
	origins  map[string]origin // by key; only settings of the command
	file     settingsFile
}

// resolve merges what all places say, the command line first, and validates it.
func resolve(c command, flags *pflag.FlagSet, address string) (*resolved, error) {
	r := &resolved{command: c, origins: map[string]origin{}}
	r.settings = c.settings(&r.config)
	layers, err := r.gather(flags, address)
	if err != nil {
		return nil, err
	}
	if err := r.checkTypes(layers); err != nil {
		return nil, err
	}
	for _, s := range r.settings {
		if err := r.pick(s, layers); err != nil {
			return nil, err
		}
	}
	if err := r.derive(); err != nil {
		return nil, err
	}
	return r, r.validate()
}

// gather reads every place, lowest rank first.
func (r *resolved) gather(flags *pflag.FlagSet, address string) ([]layer, error) {
	fromFlags, err := flagLayer(flags, cmp.Or(r.command.takes, "url"), address)
	if err != nil {
		return nil, err
	}
	fromEnv, err := envLayer()
	if err != nil {
		return nil, err
	}
	fromShared, err := sharedLayer()
	if err != nil {
		return nil, err
	}
	for _, s := range r.settings {
		if s.group == groupFile { // it says which file to read
			if err := r.pick(s, []layer{fromEnv, fromFlags}); err != nil {
				return nil, err
			}
		}
	}
	if r.file, err = readFile(r.config.File); err != nil {
		return nil, err
	}
	r.config.File = r.file.path
	fromFile, err := r.file.layers(r.config.Profile)
	if err != nil {
		return nil, err
	}
	layers := append(fromFile, fromShared, fromEnv, fromFlags)
	slices.SortStableFunc(layers, func(a, b layer) int { return int(a.rank - b.rank) })
	return layers, nil
}

// checkTypes reads every value that is there, also of settings that this command
// does not take: a mistake in a file should not wait for another command.
func (r *resolved) checkTypes(layers []layer) error {
	rows := table(&Config{})
	for _, l := range layers {
		for _, s := range rows {
			if value := l.values.Get(s.key); l.values.Exists(s.key) {
				if err := formOf(s.field).set(value); err != nil {
					return fmt.Errorf("%s: %w", r.written(s, l.origin(s), value), err)
				}
			}
		}
	}
	return nil
}

// pick takes the setting's value from the highest layer that has one.
func (r *resolved) pick(s setting, layers []layer) error {
	for _, l := range slices.Backward(layers) {
		if l.values.Exists(s.key) {
			r.origins[s.key] = l.origin(s)
			return formOf(s.field).set(l.values.Get(s.key))
		}
	}
	if _, done := r.origins[s.key]; done || s.initial == "" {
		return nil
	}
	return formOf(s.field).set([]string{s.initial})
}

// validate checks each setting of the command, then what only the command knows.
func (r *resolved) validate() error {
	for _, s := range r.settings {
		if chosen, ok := s.field.(*string); ok && s.choices != nil && !slices.Contains(s.choices, *chosen) {
			return r.fail(s.key, "must be "+oneOf(s.choices)+didYouMean(*chosen, s.choices))
		}
		if s.check == nil {
			continue
		}
		if problem := s.check(); problem != "" {
			return r.fail(s.key, problem)
		}
	}
	if r.command.check == nil {
		return nil
	}
	return r.command.check(r)
}

// given reports whether a setting has been given anywhere.
func (r *resolved) given(key string) bool { return r.origins[key].rank > rankDefault }

// fail is the error for a setting of the command, in the words of the place it came from.
func (r *resolved) fail(key, problem string) error {
	s, _ := lookup(r.settings, key)
	return fmt.Errorf("%s: %s", r.written(s, r.origins[key], formOf(s.field).toml), problem)
}

// written is a setting with its value as its user wrote it. Values that may hold
// a secret are left out.
func (r *resolved) written(s setting, o origin, value any) string {
	subject := o.subject(s, r.file.path)
	if texts, ok := value.([]string); ok {
		value = texts[len(texts)-1]
	}
	text := fmt.Sprint(value)
	if s.secret || strings.ContainsAny(text, "@?=&") || text == "" {
		return subject
	}
	if o.rank == rankFile || o.rank == rankProfile {
		return subject + " = " + text
	}
	return subject + " " + text
}

func oneOf(choices []string) string {
	named := slices.DeleteFunc(slices.Clone(choices), func(s string) bool { return s == "" })
	last := len(named) - 1
	return strings.Join(named[:last], ", ") + " or " + named[last]
}
