package config

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// resolveBoth resolves the settings of two endpoints that get the same load. Each is a URL or @PROFILE.
func resolveBoth(ctx context.Context, c command, flags *pflag.FlagSet, args []string) (r *resolved, warning string, err error) {
	for _, word := range args {
		if err := unknownCommand(word, resolves(ctx)); err != nil {
			return nil, "", err
		}
		if strings.HasPrefix(word, "@") != strings.HasPrefix(args[0], "@") {
			return nil, "", errors.New("two endpoints must be two URLs or two profiles: settings and keys of a profile are not sent elsewhere")
		}
	}
	if args[0] == args[1] {
		return nil, "", errors.New("both endpoints are the same: omit one of them")
	}
	both, err := targetsOf(&resolved{command: c}, flags, args)
	if err != nil {
		return nil, "", err
	}
	first, second := both[0], both[1]
	if err := aloneTogether(first); err != nil {
		return nil, "", err
	}
	warning = withholdSharedKey(both)
	first.config.Beside = besideOf(&first.config, &second.config, !strings.HasPrefix(args[0], "@"))
	return first, warning, nil
}

// aloneTogether refuses settings that would be ambiguous with two endpoints.
func aloneTogether(r *resolved) error {
	for _, key := range []string{"against", "nats"} {
		if r.given(key) {
			return r.fail(key, "cannot be used with two endpoints: omit one of them")
		}
	}
	return nil
}

// besideOf is the settings of the first endpoint with the target of the second one: the load is the same. The pages
// that flags name belong to the first endpoint; those of a second URL are found.
func besideOf(first, second *Config, isURL bool) *Config {
	c := *first
	c.URL, c.Model, c.API = second.URL, second.Model, second.API
	c.APIKey, c.KeyFrom, c.APIKeyEnv, c.Headers = second.APIKey, second.KeyFrom, second.APIKeyEnv, second.Headers
	c.Insecure, c.CA, c.Cert, c.Key = second.Insecure, second.CA, second.Cert, second.Key
	c.Metrics, c.GPU, c.Prometheus, c.Selector, c.Roofline = second.Metrics, second.GPU, second.Prometheus, second.Selector, second.Roofline
	if isURL {
		c.Metrics, c.GPU, c.Prometheus, c.Selector = "", "auto", "", ""
	}
	c.Canary.Name = second.Canary.Name
	c.Record, c.Listen = "", "" // the recording and the page are of the first endpoint
	return &c
}
