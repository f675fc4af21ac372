package config

import "github.com/knadh/koanf/v2"

// rank orders the places that a value can come from; a higher one wins.
type rank int

const (
	rankDefault rank = iota
	rankFile
	rankShared  // OPENAI_* variables, which are not ours alone
	rankProfile // chosen by name, so it beats what only happens to be in the environment
	rankEnv
	rankFlag
)

// origin is where a value came from.
type origin struct {
	rank  rank
	where string // the profile's name, the variable or what a default follows from
}

// String is the origin in a comment of --print-config.
func (o origin) String() string {
	switch o.rank {
	case rankFile:
		return "file"
	case rankProfile:
		return "profile " + o.where
	case rankShared, rankEnv:
		return "env " + o.where
	case rankFlag:
		return "flag"
	}
	if o.where != "" {
		return o.where
	}
	return "default"
}

// subject names a setting in a message the way its user wrote it.
func (o origin) subject(s setting, file string) string {
	switch {
	case o.rank == rankFile:
		return file + ": " + s.key
	case o.rank == rankProfile:
		return file + ": profile." + o.where + "." + s.key
	case o.rank == rankShared, o.rank == rankEnv:
		return o.where
	case s.noFlag:
		return s.arg
	}
	return "--" + s.flagName()
}

// keyPlace names where the key came from in the middle of a sentence.
func (o origin) keyPlace(file string) string {
	switch o.rank {
	case rankFile:
		return "the file " + file
	case rankProfile:
		return "[profile." + o.where + "] of " + file
	case rankShared, rankEnv:
		return "the variable " + o.where
	}
	return "--api-key"
}

// layer holds the settings from one place.
type layer struct {
	rank   rank
	where  string // the profile's name, or the variable
	values *koanf.Koanf
}

// origin is where the layer's value of a setting came from.
func (l layer) origin(s setting) origin {
	if l.rank == rankEnv {
		return origin{l.rank, s.envName()}
	}
	return origin{l.rank, l.where}
}
