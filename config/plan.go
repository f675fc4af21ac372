package config

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sonde/probe/plan"
	"sonde/probe/slo"
)

// Plan holds the settings of `sonde plan`.
type Plan struct {
	Loads    []PlanLoad
	Headroom float64 // on top of the load, as a share of it
	Limits   []plan.Limit
	Model    string       // name of a model, or the path of its config.json; "" is unknown
	From     string       // file of `sonde sweep`; "" is none
	SLO      []slo.Target // for the levels of From

	each plan.Workload // what the flags give to each workload
}

// PlanLoad is one workload of `sonde plan`.
type PlanLoad struct {
	plan.Workload
	Text string // as it was given; "" if flags describe it
}

func (l PlanLoad) String() string { return l.Text }

// loadKeys are the figures of a workload: words inside --workload, and flags for all
// workloads.
var loadKeys = []struct {
	name, arg, help string
	quantity
	field func(*plan.Workload) *float64
}{
	{"qps", "R", "requests per second; 240/min", perSecond, func(w *plan.Workload) *float64 { return &w.RequestsPerS }},
	{"rpm", "N", "the same, per minute", perMinute, func(w *plan.Workload) *float64 { return &w.RequestsPerS }},
	{"users", "N", "users who wait for each answer", count, func(w *plan.Workload) *float64 { return &w.Users }},
	{"think", "D", "pause of a user between requests", seconds, func(w *plan.Workload) *float64 { return &w.ThinkS }},
	{"input", "N", "prompt length, tokens", count, func(w *plan.Workload) *float64 { return &w.Input }},
	{"output", "N", "answer length, tokens", count, func(w *plan.Workload) *float64 { return &w.Output }},
	{"e2e", "D", "time to the last token", seconds, func(w *plan.Workload) *float64 { return &w.E2ES }},
	{"ttft", "D", "time to the first token, with --tpot", seconds, func(w *plan.Workload) *float64 { return &w.TTFTS }},
	{"tpot", "D", "time per further token", seconds, func(w *plan.Workload) *float64 { return &w.TPOTS }},
}

func planSettings(c *Config) []setting {
	var rows []setting
	for _, k := range loadKeys {
		rows = append(rows, setting{key: "plan." + k.name, arg: k.arg, help: k.help, field: &measured{k.field(&c.Plan.each), k.quantity}})
	}
	return in(groupPlan, append(rows, []setting{
		{key: "plan.workload", arg: "NAME:LIST", help: "NAME:qps=2,input=512,…; repeatable", field: &c.Plan.Loads},
		{key: "plan.headroom", arg: "SHARE", help: "on top of the load, such as 50%", check: c.checkHeadroom, field: &measured{&c.Plan.Headroom, fraction}},
		{key: "plan.limit", arg: "LIST", help: "quotas, such as rpm=1000,tpm=1M", field: &c.Plan.Limits},
		{key: "plan.model", arg: "NAME", help: "for KV bytes; or its config.json", field: &c.Plan.Model},
		{key: "plan.from", arg: "FILE", help: "measured levels, from sonde sweep", field: &c.Plan.From},
		{key: "plan.slo", arg: "LIST", help: "SLO that a measured level must meet", field: &c.Plan.SLO},
	}...))
}

func (c *Config) checkHeadroom() string {
	if c.Plan.Headroom > 100 {
		return "must be at most 10000%"
	}
	return ""
}

// checkPlan combines flags and workloads.
func checkPlan(r *resolved) error {
	p := &r.config.Plan
	for _, k := range loadKeys {
		if key := "plan." + k.name; k.name != "think" && r.given(key) && *k.field(&p.each) == 0 {
			return r.fail(key, "must be above 0")
		}
	}
	if r.given("plan.rpm") && r.given("plan.qps") {
		return r.fail("plan.rpm", "is --qps per minute: omit one of them")
	}
	if len(p.SLO) > 0 && p.From == "" {
		return r.fail("plan.slo", "chooses among measured levels: add --from FILE")
	}
	if len(p.Loads) > 0 {
		return p.spread(r)
	}
	if p.each != (plan.Workload{}) {
		p.Loads = []PlanLoad{{Workload: p.each}}
	}
	return nil
}

// spread completes each workload, first from the flags, then with the lengths that its
// name stands for. A rate for all is refused as soon as there are several.
func (p *Plan) spread(r *resolved) error {
	for _, key := range []string{"plan.qps", "plan.rpm", "plan.users"} {
		if first := &p.Loads[0]; r.given(key) && (len(p.Loads) > 1 || first.RequestsPerS > 0 || first.Users > 0) {
			return r.fail(key, "belongs inside each workload: --workload chat:qps=2,…")
		}
	}
	for i := range p.Loads {
		p.Loads[i].fill(&p.each)
		if p.From == "" {
			p.Loads[i].nameLengths()
		}
	}
	return nil
}

// fill completes the workload. Its latency is one thing: it is not mixed from two places.
func (l *PlanLoad) fill(e *plan.Workload) {
	if l.RequestsPerS == 0 && l.Users == 0 {
		l.RequestsPerS, l.Users = e.RequestsPerS, e.Users
	}
	if l.Users > 0 {
		l.ThinkS = cmp.Or(l.ThinkS, e.ThinkS)
	}
	l.Input, l.Output = cmp.Or(l.Input, e.Input), cmp.Or(l.Output, e.Output)
	if l.E2ES == 0 && l.TTFTS == 0 && l.TPOTS == 0 {
		l.E2ES, l.TTFTS, l.TPOTS = e.E2ES, e.TTFTS, e.TPOTS
	}
}

// nameLengths takes the lengths of the usual workload of that name.
func (l *PlanLoad) nameLengths() {
	if w := workloadOf(l.Name); w.name == l.Name {
		l.Input, l.Output = cmp.Or(l.Input, float64(w.input)), cmp.Or(l.Output, float64(w.output))
	}
}

// loadName is what a workload may be called.
var loadName = regexp.MustCompile(`^[\pL\pN][\pL\pN ._-]{0,39}$`)

// parsePlanLoads reads workloads such as "chat:qps=2,input=512,output=256,e2e=8s".
// Errors name the faulty part.
func parsePlanLoads(texts []string) ([]PlanLoad, error) {
	var all []PlanLoad
	for _, text := range texts {
		l := PlanLoad{Text: strings.TrimSpace(text)}
		if err := l.parse(); err != nil {
			return nil, fmt.Errorf("%q %w", l.Text, err)
		}
		if slices.ContainsFunc(all, func(o PlanLoad) bool { return o.Name == l.Name }) {
			return nil, fmt.Errorf("%q is given twice", l.Name)
		}
		all = append(all, l)
	}
	return all, nil
}

// parse reads the text into the workload.
func (l *PlanLoad) parse() error {
	name, figures, _ := strings.Cut(l.Text, ":")
	if l.Name = strings.TrimSpace(name); !loadName.MatchString(l.Name) {
		return errors.New("must begin with a name: chat:qps=2,input=512,output=256,e2e=8s")
	}
	seen := map[string]bool{}
	for key, value := range pairs(figures) {
		if seen[key] {
			return fmt.Errorf("has %s twice", key)
		}
		seen[key] = true
		if err := l.set(key, value); err != nil {
			return err
		}
	}
	if seen["qps"] && seen["rpm"] {
		return errors.New("has both qps and rpm: omit one of them")
	}
	return nil
}

// pairs are the entries of a list such as "rpm=1000,tpm=1M".
func pairs(list string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for part := range strings.SplitSeq(list, ",") {
			key, value, _ := strings.Cut(part, "=")
			if strings.TrimSpace(part) != "" && !yield(strings.TrimSpace(key), value) {
				return
			}
		}
	}
}

func (l *PlanLoad) set(key, value string) error {
	var names []string
	for _, k := range loadKeys {
		names = append(names, k.name)
		if k.name != key {
			continue
		}
		v, err := k.parse(value)
		if err != nil {
			return fmt.Errorf("is invalid: %s must %s", key, k.must)
		}
		if v == 0 {
			return fmt.Errorf("is invalid: %s must be above 0", key)
		}
		*k.field(&l.Workload) = v
		return nil
	}
	return fmt.Errorf("has an unknown key '%s': must be %s%s", key, oneOf(names), didYouMean(key, names))
}

// parsePlanLimits reads a list such as "rpm=1000,tpm=1M".
func parsePlanLimits(texts []string) ([]plan.Limit, error) {
	var all []plan.Limit
	for given, value := range pairs(strings.Join(texts, ",")) {
		name := strings.ReplaceAll(given, "-", "_")
		quota, err := parseCount(value)
		switch known := plan.LimitNames(); {
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("%q must be one of %s, as in rpm=1000,tpm=1M%s", given, oneOf(known), didYouMean(name, known))
		case slices.ContainsFunc(all, func(o plan.Limit) bool { return o.Name == name }):
			return nil, fmt.Errorf("%q is given twice", name)
		case err != nil || quota == 0:
			return nil, fmt.Errorf("%q needs a number above 0 such as 1000, 10k or 1.5M", given)
		}
		all = append(all, plan.Limit{Name: name, Quota: quota})
	}
	return all, nil
}

func joinLimits(all []plan.Limit) string {
	var parts []string
	for _, l := range all {
		parts = append(parts, l.Name+"="+strconv.FormatFloat(l.Quota, 'f', -1, 64))
	}
	return strings.Join(parts, ",")
}
