package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PlanLoad is one workload of `sonde plan`. What is 0 was not given.
type PlanLoad struct {
	Name       string    // "" unless it has one
	QPS        PerSecond // requests per second, also where it was given per minute
	Users      Count
	Think      time.Duration // between an answer and the user's next request
	Input      Count         // tokens, mean
	Output     Count         // tokens, mean
	E2E        time.Duration
	TTFT, TPOT time.Duration
	Text       string // as it was asked for
}

// PlanLimit is one quota of `sonde plan`.
type PlanLimit struct {
	Name  string // one of planLimits
	Quota float64
}

// planLimits are the quotas, by their names in files of plans.
var planLimits = []string{"rpm", "tpm", "input_tpm", "output_tpm", "concurrency", "kv_tokens"}

// loadName is what a workload may be called.
var loadName = regexp.MustCompile(`^[\pL\pN][\pL\pN ._-]{0,39}$`)

// parsePlanLoads reads workloads such as "chat:qps=2,input=512,output=256,e2e=8s".
// Errors name the faulty part.
func parsePlanLoads(texts []string) ([]PlanLoad, error) {
	var all []PlanLoad
	for _, text := range texts {
		l, err := parsePlanLoad(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%q %w", text, err)
		}
		for _, other := range all {
			if other.Name == l.Name {
				return nil, fmt.Errorf("%q is given twice", l.Name)
			}
		}
		all = append(all, l)
	}
	return all, nil
}

func parsePlanLoad(text string) (PlanLoad, error) {
	name, parts, _ := strings.Cut(text, ":")
	l := PlanLoad{Name: strings.TrimSpace(name), Text: text}
	if !loadName.MatchString(l.Name) {
		return l, errors.New("must begin with a name: chat:qps=2,input=512,output=256,e2e=8s")
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(parts, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		if seen[key] {
			return l, fmt.Errorf("has %s twice", key)
		}
		seen[key] = true
		if err := l.set(key, value); err != nil {
			return l, err
		}
	}
	if seen["qps"] && seen["rpm"] {
		return l, errors.New("has qps and rpm: leave one of them out")
	}
	return l, nil
}

// planKeys are the words inside a workload.
var planKeys = []string{"qps", "rpm", "users", "think", "input", "output", "e2e", "ttft", "tpot"}

func (l *PlanLoad) set(key, value string) error {
	read, form := parseCount, "a number above 0 such as 6000, 6k or 1.5M"
	switch key {
	case "qps":
		read, form = parsePerSecond, "a rate above 0 such as 4 or 240/min"
	case "think", "e2e", "ttft", "tpot":
		read, form = parsePositive, "a time above 0 with its unit, such as 8s or 40ms"
	case "rpm", "users", "input", "output":
	default:
		return fmt.Errorf("has the word '%s', which must be %s%s", key, oneOf(planKeys), didYouMean(key, planKeys))
	}
	v, err := read(value)
	if err != nil || v <= 0 {
		return fmt.Errorf("needs for %s %s", key, form)
	}
	l.put(key, v)
	return nil
}

// put stores a value that has been read.
func (l *PlanLoad) put(key string, v float64) {
	duration := time.Duration(v * float64(time.Second))
	switch key {
	case "qps":
		l.QPS = PerSecond(v)
	case "rpm":
		l.QPS = PerSecond(v / 60)
	case "users":
		l.Users = Count(v)
	case "think":
		l.Think = duration
	case "input":
		l.Input = Count(v)
	case "output":
		l.Output = Count(v)
	case "e2e":
		l.E2E = duration
	case "ttft":
		l.TTFT = duration
	case "tpot":
		l.TPOT = duration
	}
}

// parsePlanLimits reads a list such as "rpm=1000,tpm=1M".
func parsePlanLimits(texts []string) ([]PlanLimit, error) {
	var all []PlanLimit
	for part := range strings.SplitSeq(strings.Join(texts, ","), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
		if !slices.Contains(planLimits, name) {
			return nil, fmt.Errorf("%q must name one of %s, as in rpm=1000,tpm=1M%s", part, oneOf(planLimits), didYouMean(name, planLimits))
		}
		for _, other := range all {
			if other.Name == name {
				return nil, fmt.Errorf("%q is given twice", name)
			}
		}
		quota, err := parseCount(value)
		if err != nil || quota <= 0 {
			return nil, fmt.Errorf("%q needs a number above 0 such as 1000, 10k or 1.5M", part)
		}
		all = append(all, PlanLimit{name, quota})
	}
	return all, nil
}

func joinLimits(all []PlanLimit) string {
	var parts []string
	for _, l := range all {
		parts = append(parts, l.Name+"="+strconv.FormatFloat(l.Quota, 'f', -1, 64))
	}
	return strings.Join(parts, ",")
}
