package config

import (
	"github.com/knadh/koanf/v2"
)

// layer is what one place says about some settings.
type layer struct {
	rank   rank
	values *koanf.Koanf
	native bool              // values have TOML's types, else they are texts
	name   string            // the profile's name
	where  map[string]string // by key: the variable that a value came from
}

func newLayer(r rank) layer {
	return layer{rank: r, values: koanf.New("."), where: map[string]string{}}
}

// origin is where the layer's value of a key came from.
func (l layer) origin(key string) origin {
	if l.name != "" {
		return origin{l.rank, l.name}
	}
	return origin{l.rank, l.where[key]}
}

// set reads the layer's value of the setting into the Config.
func (l layer) set(s setting, c *Config) error {
	value := l.values.Get(s.key)
	if l.native {
		return setTOML(s.field(c), value)
	}
	return setText(s.field(c), value.([]string))
}
