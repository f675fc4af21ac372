package config

import (
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

// resolve merges what all places say, the command line first, and validates it. The words are
// settings by their keys that are written behind the command's name.
func resolve(c command, flags *pflag.FlagSet, words map[string]string) (*resolved, error) {
	r := &resolved{command: c, origins: map[string]origin{}}
	r.settings = c.settings(&r.config)
	for _, s := range r.settings {
		if s.initial != "" {
			if err := formOf(s.field).set([]string{s.initial}); err != nil {
				return nil, fmt.Errorf("the default of %s %w", s.key, err)
			}
		}
	}
	if err := r.gather(flags, words); err != nil {
		return nil, err
	}
	if err := r.derive(); err != nil {
		return nil, err
	}
	return r, r.validate()
}

// gather takes the settings of every place, the lowest rank first.
func (r *resolved) gather(flags *pflag.FlagSet, words map[string]string) error {
	fromFlags, err := flagLayer(flags, words)
	if err != nil {
		return err
	}
	fromEnv, err := envLayer()
	if err != nil {
		return err
	}
	// These two name the settings file, and are taken again after it: they win.
	if err := r.take(fromEnv, fromFlags); err != nil {
		return err
	}
	if r.file, err = readFile(r.config.File); err != nil {
		return err
	}
	r.config.File = r.file.path
	fromFile, fromProfile, err := r.file.layers(r.config.Profile)
	if err != nil {
		return err
	}
	return r.take(fromFile, sharedLayer(), fromProfile, fromEnv, fromFlags)
}

// take sets what the layers say; later ones win. Settings that the command does not take
// are read too: a mistake in a file should not wait for another command.
func (r *resolved) take(layers ...layer) error {
	rows := table(&Config{})
	for _, l := range layers {
		for _, s := range rows {
			if !l.values.Exists(s.key) {
				continue
			}
			if own, ok := lookup(r.settings, s.key); ok {
				s = own
				r.origins[s.key] = l.origin(s)
			}
			value := l.values.Get(s.key)
			if err := formOf(s.field).set(value); err != nil {
				return fmt.Errorf("%s: %w", r.written(s, l.origin(s), value), err)
			}
		}
	}
	return nil
}

// validate checks each setting of the command, then what only the command knows.
func (r *resolved) validate() error {
	for _, s := range r.settings {
		chosen, ok := s.field.(*string)
		if ok && s.key == "format" && r.origins[s.key].rank < rankFlag && slices.Contains(formats, *chosen) && !slices.Contains(s.choices, *chosen) {
			*chosen = "" // it was meant for other commands
		}
		if ok && s.choices != nil && !slices.Contains(s.choices, *chosen) {
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
