package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// flagValue keeps the words of a flag as they were given; they are read later,
// together with those of the other sources, so that complaints sound the same.
type flagValue struct {
	key  string
	arg  string
	text []string
}

func (f *flagValue) String() string     { return strings.Join(f.text, "\n") }
func (f *flagValue) Set(s string) error { f.text = append(f.text, s); return nil }

// Type is what help shows behind the flag's name; pflag shows nothing for bool.
func (f *flagValue) Type() string {
	if f.arg == "" {
		return "bool"
	}
	return f.arg
}

// addFlag declares the setting's flag. Those that are not common stay out of the
// short help.
func addFlag(flags *pflag.FlagSet, s setting, common bool) {
	flag := flags.VarPF(&flagValue{key: s.key, arg: s.arg}, s.flagName(), s.short, s.help)
	flag.DefValue = s.initial
	if s.initial == "0s" {
		flag.DefValue = "" // the help says what it means
	}
	flag.Hidden = !common
	if s.arg == "" {
		flag.NoOptDefVal = "true"
	}
}

// flagLayer reads the command line: flags, and words behind the command's name, which win.
func flagLayer(flags *pflag.FlagSet, words map[string]string) (layer, error) {
	l := layer{rank: rankFlag, values: koanf.New(".")}
	given := func(f *pflag.Flag) (string, any) {
		if v, ok := f.Value.(*flagValue); ok {
			return v.key, v.text
		}
		return "", nil
	}
	err := l.values.Load(posflag.ProviderWithFlag(flags, ".", nil, given), nil)
	for key, word := range words {
		err = errors.Join(err, l.values.Set(key, []string{word}))
	}
	return l, err
}

// explainFlag makes one line with a way out from pflag's complaint, without the
// words behind the flag: they may be a secret.
func explainFlag(flags *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("unknown flag -%.1s (--help-all lists every flag)", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		hint := didYouMean("--"+name, flagNames(flags))
		return fmt.Errorf("unknown flag --%s%s", name, cmp.Or(hint, " (--help-all lists every flag)"))
	case errors.As(err, &bare):
		return fmt.Errorf("--%s needs a value: --%[1]s %s", bare.GetFlag().Name, bare.GetFlag().Value.Type())
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s must be true or false", invalid.GetFlag().Name)
	}
	return errors.New("invalid flag: write --name or --name=value")
}

func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// Variables that other programs share with us.
const (
	openAIKey = "OPENAI_API_KEY"
	openAIURL = "OPENAI_BASE_URL"
)

// envLayer reads our own variables. An empty one counts as unset; an unknown one is
// refused, because it is most likely a typo.
func envLayer() (layer, error) {
	l := layer{rank: rankEnv, values: koanf.New(".")}
	keys := map[string]string{}
	for _, s := range table(&Config{}) {
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
		return key, strings.Split(value, "\n") // lists have an entry per line
	}
	if err := l.values.Load(env.Provider(".", env.Opt{Prefix: envPrefix, TransformFunc: read}), nil); err != nil {
		return l, err
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		hint := didYouMean(unknown[0], slices.Collect(maps.Keys(keys)))
		return l, fmt.Errorf("unknown environment variable '%s'%s", unknown[0], cmp.Or(hint, ": unset it"))
	}
	return l, nil
}

// sharedLayer holds the address from the variable that we share with other programs.
func sharedLayer() layer {
	l := layer{rank: rankShared, where: openAIURL, values: koanf.New(".")}
	if url := os.Getenv(openAIURL); url != "" {
		_ = l.values.Set("url", []string{url}) // fails only where a key holds a table and a value
	}
	return l
}
