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
	command command
	config  Config
	origins map[string]origin // by key; only settings of the command
	file    settingsFile
}

// resolve merges what all places say, the command line first, and validates it.
func resolve(c command, flags *pflag.FlagSet, address string) (*resolved, error) {
	r := &resolved{command: c, origins: map[string]origin{}}
	layers, err := r.gather(flags, address)
	if err != nil {
		return nil, err
	}
	if err := r.checkTypes(layers); err != nil {
		return nil, err
	}
	for _, s := range c.settings() {
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
	for _, s := range fileSettings() { // they say which file to read
		if err := r.pick(s, []layer{fromEnv, fromFlags}); err != nil {
			return nil, err
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
	for _, l := range layers {
		for _, s := range table() {
			if !l.values.Exists(s.key) {
				continue
			}
			if err := l.set(s, &Config{}); err != nil {
				return fmt.Errorf("%s: %w", r.written(s, l.origin(s.key), l.values.Get(s.key)), err)
			}
		}
	}
	return nil
}

// pick takes the setting's value from the highest layer that has one.
func (r *resolved) pick(s setting, layers []layer) error {
	for _, l := range slices.Backward(layers) {
		if l.values.Exists(s.key) {
			r.origins[s.key] = l.origin(s.key)
			return l.set(s, &r.config)
		}
	}
	if _, done := r.origins[s.key]; done || s.initial == "" {
		return nil
	}
	return setText(s.field(&r.config), []string{s.initial})
}

// validate checks each setting of the command, then what only the command knows.
func (r *resolved) validate() error {
	for _, s := range r.command.settings() {
		value := tomlValue(s.field(&r.config))
		if len(s.choices) > 0 && !slices.Contains(s.choices, value.(string)) {
			hint := didYouMean(value.(string), s.choices)
			return r.fail(s.key, "must be "+oneOf(s.choices)+hint)
		}
		if s.check == nil {
			continue
		}
		if problem := s.check(&r.config); problem != "" {
			return r.fail(s.key, problem)
		}
	}
	if r.command.check == nil {
		return nil
	}
	return r.command.check(r)
}

// fail is the error for a setting, in the words of the place it came from.
func (r *resolved) fail(key, problem string) error {
	s, _ := lookup(key)
	return fmt.Errorf("%s: %s", r.written(s, r.origins[key], tomlValue(s.field(&r.config))), problem)
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
