package config

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sonde/probe/plain"
	"sonde/probe/slo"
)

// Canary holds the settings of `sonde canary`.
type Canary struct {
	File     string        // with targets, one in a line; "" is none
	Every    time.Duration // between two probes of a target
	Input    int           // tokens of a prompt
	Output   int           // tokens of an answer
	Budget   float64       // tokens an hour for a target; 0 is no limit
	Timeout  time.Duration // of a probe
	SLO      []slo.Target
	Seed     uint64 // of jitter and prompts; 0 is random
	Once     bool   // probe each target once and end
	ProbeAny bool   // /probe takes any address

	Each []Config // the settings of each target
	Name string   // in one of Each, and in Config.Beside: how people call the target, without credentials
}

func canarySettings(c *Config) []setting {
	k := &c.Canary
	return in(groupCanary, []setting{
		{key: "canary.every", arg: "D", initial: "10s", help: "time between probes of a target", check: k.checkEvery, field: &k.Every},
		{key: "canary.input", short: "i", arg: "N", initial: "16", help: "prompt length, tokens", check: between(&k.Input, 1, 100_000), field: &k.Input},
		{key: "canary.output", short: "o", arg: "N", initial: "16", help: "answer length, tokens", check: between(&k.Output, 1, 100_000), field: &k.Output},
		{key: "canary.budget", arg: "N/h", help: "most tokens an hour per target (no limit)", check: k.checkBudget, field: &measured{&k.Budget, perHour}},
		{key: "canary.timeout", arg: "D", initial: "30s", help: "longest time for a probe", check: k.checkTimeout, field: &k.Timeout},
		{key: "canary.slo", arg: "LIST", help: "SLOs, such as ttft_p95=2s,success=99.9", field: &k.SLO},
		{key: "canary.targets", arg: "FILE", help: "more targets, one per line", check: readable(&k.File), field: &k.File},
		{key: "canary.once", noFile: true, help: "probe each target once, print a table, exit", field: &k.Once},
		{key: "canary.probe-any", help: "let /probe take any address", field: &k.ProbeAny},
		{key: "canary.seed", arg: "N", initial: "0", help: "reproducible jitter and prompts (random)", field: &k.Seed},
	})
}

// perHour is tokens in an hour.
var perHour = quantity{"be tokens an hour such as 20k/h, or 500k/day", tomlNumber | tomlText, parsePerHour, count.toml}

func parsePerHour(s string) (float64, error) {
	if !strings.Contains(s, "/") {
		s += "/h"
	}
	v, err := parsePerSecond(s)
	return math.Round(v * 3600), err
}

func (k *Canary) checkEvery() string {
	if k.Every < time.Second || k.Every > 24*time.Hour {
		return "must be 1s to 24h"
	}
	return ""
}

func (k *Canary) checkTimeout() string {
	if k.Timeout <= 0 || k.Timeout > time.Hour {
		return "must be longer than 0 and at most 1h"
	}
	return ""
}

func (k *Canary) checkBudget() string {
	if probe := k.Input + k.Output; k.Budget > 0 && k.Budget < float64(probe) {
		return fmt.Sprintf("must have room for a probe of %d tokens: raise it, or lower --input and --output", probe)
	}
	return ""
}

// checkCanary refuses what has no meaning together.
func checkCanary(r *resolved) error {
	c := &r.config
	if c.Canary.Once && c.Listen != "" && r.origins["listen"].rank == rankFlag {
		return r.fail("listen", "has nothing to serve with --once: omit one of them")
	}
	if c.Canary.ProbeAny && c.Listen == "" && r.origins["canary.probe-any"].rank == rankFlag {
		return r.fail("canary.probe-any", "is about the page /probe: add --listen 9898")
	}
	return nil
}

// mostTargets bounds a list: each has a connection and a goroutine of its own.
const mostTargets = 1000

// resolveTargets resolves the settings of the command, and those of each target: what is
// written behind the command's name, and in the file of targets.
func resolveTargets(c command, flags *pflag.FlagSet, args []string) (r *resolved, warning string, err error) {
	if r, err = resolve(c, flags, nil); err != nil {
		return nil, "", err
	}
	words, err := r.config.Canary.words(args)
	if err != nil {
		return nil, "", err
	}
	each, err := targetsOf(r, flags, words)
	if err != nil {
		return nil, "", err
	}
	warning = withholdSharedKey(each)
	for _, one := range each {
		r.config.Canary.Each = append(r.config.Canary.Each, one.config)
	}
	return r, warning, nil
}

// words are the targets as they are written.
func (k *Canary) words(args []string) ([]string, error) {
	words := args
	if k.File != "" {
		file, err := os.Open(k.File)
		if err != nil {
			return nil, fmt.Errorf("--targets: %w", plain.Cause(err))
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
				words = append(words, line)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("--targets: %w", err)
		}
	}
	if len(words) > mostTargets {
		return nil, fmt.Errorf("%d targets: must be at most %d", len(words), mostTargets)
	}
	return words, nil
}

// targetsOf resolves each target. Without any, the URL of the settings is the only one.
func targetsOf(r *resolved, flags *pflag.FlagSet, words []string) ([]*resolved, error) {
	if len(words) == 0 && r.config.URL == "" {
		return nil, nil // the command says that it needs one
	}
	if len(words) == 0 {
		only := *r
		only.config.Canary.Name = nameOf(only.config.URL)
		return []*resolved{&only}, nil
	}
	var each []*resolved
	seen := map[string]bool{}
	for i, word := range words {
		one, err := resolveTarget(r.command, flags, word)
		if err == nil && seen[word] {
			err = errors.New("is given twice: omit one of them")
		}
		if err != nil && len(words) > 1 {
			err = fmt.Errorf("target %d: %w", i+1, err)
		}
		if err != nil {
			return nil, err
		}
		seen[word] = true
		each = append(each, one)
	}
	return each, nil
}

// resolveTarget resolves the settings of a target, which is written URL or @PROFILE, either
// with #MODEL behind it. Its errors do not repeat it: it may hold a password.
func resolveTarget(c command, flags *pflag.FlagSet, word string) (*resolved, error) {
	if strings.ContainsAny(word, " \t") {
		return nil, errors.New("must be URL or @PROFILE, or either with #MODEL, without blanks")
	}
	at, model, _ := strings.Cut(word, "#")
	given := map[string]string{}
	if model != "" {
		given["model"] = model
	}
	profile, isProfile := strings.CutPrefix(at, "@")
	switch {
	case profile == "":
		return nil, errors.New("must be URL or @PROFILE, or either with #MODEL")
	case isProfile:
		given["profile"] = profile
	default:
		given["url"] = at
	}
	one, err := resolve(c, flags, given)
	if err != nil {
		return nil, err
	}
	if one.config.URL == "" {
		return nil, fmt.Errorf("[profile.%s] of %s has no url", profile, one.file.path)
	}
	one.config.Canary.Name = nameOf(one.config.URL)
	if isProfile {
		one.config.Canary.Name = "@" + profile
	}
	return one, nil
}

// nameOf is how people call an endpoint: its address without credentials.
func nameOf(address string) string {
	return strings.TrimPrefix(plain.RedactURL(address), "http://")
}

// withholdSharedKey takes the key of OPENAI_API_KEY from targets on different hosts, unless
// they name that variable: it is the key of one service, and the others must not see it.
func withholdSharedKey(each []*resolved) (warning string) {
	hosts := map[string]bool{}
	for _, one := range each {
		if u, err := url.Parse(one.config.URL); err == nil {
			hosts[u.Host] = true
		}
	}
	if len(hosts) < 2 {
		return ""
	}
	for _, one := range each {
		if one.origins["api-key"] == (origin{rankEnv, openAIKey}) && !one.given("api-key-env") {
			one.config.APIKey, one.config.KeyFrom = "", ""
			warning = "the targets are on different hosts: " + openAIKey + " is only sent to those that name it with api-key-env"
		}
	}
	return warning
}
