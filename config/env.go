package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
)

// Variables that other programs share with us.
const (
	openAIKey = "OPENAI_API_KEY"
	openAIURL = "OPENAI_BASE_URL"
)

// envLayer is what our own variables say. One that is empty is not set; an
// unknown one is refused, because it is most likely a slip.
func envLayer() (layer, error) {
	l := newLayer(rankEnv)
	keys := map[string]string{}
	for _, s := range table() {
		keys[s.envName()] = s.key
	}
	var unknown []string
	read := func(name, value string) (string, any) {
		key, known := keys[name]
		if !known {
			unknown = append(unknown, name)
		}
		if value == "" || !known {
			return "", nil
		}
		l.where[key] = name
		return key, strings.Split(value, "\n") // lists have an entry per line
	}
	if err := l.values.Load(env.Provider(".", env.Opt{Prefix: envPrefix, TransformFunc: read}), nil); err != nil {
		return l, err
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		hint := didYouMean(unknown[0], slices.Collect(maps.Keys(keys)))
		return l, fmt.Errorf("unknown environment variable '%s'%s", unknown[0], orElse(hint, ": unset it"))
	}
	return l, nil
}

// sharedLayer is what variables say that other programs read, too.
func sharedLayer() (layer, error) {
	l := newLayer(rankShared)
	if url := os.Getenv(openAIURL); url != "" {
		l.where["url"] = openAIURL
		return l, l.values.Set("url", []string{url})
	}
	return l, nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
