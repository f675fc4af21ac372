package config

import "context"

// Plan is what `sonde plan` is asked for.
type Plan struct {
	Loads    []PlanLoad // what is 0 was not given
	Headroom Fraction   // on top of the load
	Limits   []PlanLimit
	Model    string // name of a model, or the path of its config.json; "" is unknown
	From     string // file of `sonde sweep`; "" is none
	SLO      []SLO  // for the levels of From

	each PlanLoad // what the flags say for each workload
	rpm  Count
}

const groupPlan = "plan"

// planCommand is capacity arithmetic.
func planCommand() command {
	return command{
		name:  "plan",
		short: "Capacity arithmetic: QPS, lengths, latency → TPM, concurrency, KV",
		long: "Capacity arithmetic: from how often requests come, how long they are and how\n" +
			"long they take to RPM, TPM, requests in flight and KV cache; which quota binds\n" +
			"first; and, from a file of sonde sweep, how many replicas. Sends nothing.",
		example: "  sonde plan --qps 4 --input 6k --output 1k --e2e 15s --headroom 50%\n" +
			"  sonde plan --input 4k --output 1k --limit rpm=1000,tpm=1M\n" +
			"  sonde plan --workload chat:qps=2,e2e=8s --workload rag:users=50,e2e=9s\n" +
			"  sonde plan --qps 40 --from sweep.json --slo ttft_p95=2s",
		groups: []string{groupPlan, groupReport, groupScreen, groupFile},
		own:    planSettings(),
		common: []string{"plan.qps", "plan.rpm", "plan.users", "plan.think", "plan.input", "plan.output", "plan.e2e", "plan.ttft", "plan.tpot",
			"plan.workload", "plan.headroom", "plan.limit", "plan.model", "plan.from", "plan.slo", "format", "out"},
		formats: []string{"table", "json", "csv", "md"},
		check:   checkPlan,
		action:  func(a Actions) func(context.Context, Config) error { return a.Plan },
	}
}

func planSettings() []setting {
	row := func(name, arg, help string, field func(*Config) any) setting {
		return setting{key: "plan." + name, arg: arg, group: groupPlan, help: help, field: field}
	}
	headroom := row("headroom", "SHARE", "on top of the load, such as 50%", func(c *Config) any { return &c.Plan.Headroom })
	headroom.check = func(c *Config) string {
		if c.Plan.Headroom > 100 {
			return "must be at most 10000%"
		}
		return ""
	}
	return []setting{
		row("qps", "R", "requests per second; 240/min", func(c *Config) any { return &c.Plan.each.QPS }),
		row("rpm", "N", "the same, per minute", func(c *Config) any { return &c.Plan.rpm }),
		row("users", "N", "people who wait for each answer", func(c *Config) any { return &c.Plan.each.Users }),
		row("think", "D", "their pause before the next request", func(c *Config) any { return &c.Plan.each.Think }),
		row("input", "N", "prompt length, tokens", func(c *Config) any { return &c.Plan.each.Input }),
		row("output", "N", "answer length, tokens", func(c *Config) any { return &c.Plan.each.Output }),
		row("e2e", "D", "time to the last token", func(c *Config) any { return &c.Plan.each.E2E }),
		row("ttft", "D", "time to the first, with --tpot", func(c *Config) any { return &c.Plan.each.TTFT }),
		row("tpot", "D", "time for each further token", func(c *Config) any { return &c.Plan.each.TPOT }),
		row("workload", "NAME:LIST", "NAME:qps=2,input=512,…; repeatable", func(c *Config) any { return &c.Plan.Loads }),
		headroom,
		row("limit", "LIST", "quotas, as rpm=1000,tpm=1M", func(c *Config) any { return &c.Plan.Limits }),
		row("model", "NAME", "for KV bytes; or its config.json", func(c *Config) any { return &c.Plan.Model }),
		row("from", "FILE", "measured levels, of sonde sweep", func(c *Config) any { return &c.Plan.From }),
		row("slo", "LIST", "which of its levels may count", func(c *Config) any { return &c.Plan.SLO }),
	}
}

// checkPlan brings flags and workloads together.
func checkPlan(r *resolved) error {
	c := &r.config
	if err := r.checkFormat(); err != nil {
		return err
	}
	p := &c.Plan
	for _, name := range []string{"qps", "rpm", "users", "input", "output", "e2e", "ttft", "tpot"} {
		if o := r.origins["plan."+name]; o.rank > rankDefault && !p.has(name) {
			return r.fail("plan."+name, "must be above 0")
		}
	}
	if p.each.Think < 0 {
		return r.fail("plan.think", "must not be negative")
	}
	if p.rpm > 0 && p.each.QPS > 0 {
		return r.fail("plan.rpm", "is --qps by the minute: leave one of them out")
	}
	p.each.QPS = max(p.each.QPS, PerSecond(p.rpm/60))
	if len(p.SLO) > 0 && p.From == "" {
		return r.fail("plan.slo", "chooses among measured levels: add --from FILE")
	}
	if len(p.Loads) == 0 {
		if p.each != (PlanLoad{}) {
			p.Loads = []PlanLoad{p.each}
		}
		return nil
	}
	return p.spread(r)
}

// has tells whether a flag's value is above 0.
func (p *Plan) has(name string) bool {
	e := &p.each
	return map[string]bool{
		"qps": e.QPS > 0, "rpm": p.rpm > 0, "users": e.Users > 0, "input": e.Input > 0, "output": e.Output > 0,
		"e2e": e.E2E > 0, "ttft": e.TTFT > 0, "tpot": e.TPOT > 0,
	}[name]
}

// spread gives each workload what it leaves open: first what the flags say, then
// the lengths that its name stands for. How often one comes is its own matter as
// soon as there are several.
func (p *Plan) spread(r *resolved) error {
	e := &p.each
	if e.QPS > 0 || e.Users > 0 {
		key := "plan.users"
		if p.rpm > 0 {
			key = "plan.rpm"
		} else if e.QPS > 0 {
			key = "plan.qps"
		}
		if len(p.Loads) > 1 || p.Loads[0].QPS > 0 || p.Loads[0].Users > 0 {
			return r.fail(key, "belongs inside each workload: --workload chat:qps=2,…")
		}
	}
	for i := range p.Loads {
		p.Loads[i].fill(*e)
		if p.From == "" {
			p.Loads[i].nameLengths()
		}
	}
	return nil
}

// fill takes what the workload leaves open. Its latency is one thing: it is not
// mixed from two places.
func (l *PlanLoad) fill(e PlanLoad) {
	if l.QPS == 0 && l.Users == 0 {
		l.QPS, l.Users = e.QPS, e.Users
	}
	if l.Think == 0 && l.Users > 0 {
		l.Think = e.Think
	}
	if l.Input == 0 {
		l.Input = e.Input
	}
	if l.Output == 0 {
		l.Output = e.Output
	}
	if l.E2E == 0 && l.TTFT == 0 && l.TPOT == 0 {
		l.E2E, l.TTFT, l.TPOT = e.E2E, e.TTFT, e.TPOT
	}
}

// nameLengths takes the lengths of a usual workload of the name.
func (l *PlanLoad) nameLengths() {
	w := workloadOf(l.Name)
	if w.name != l.Name {
		return
	}
	if l.Input == 0 {
		l.Input = Count(w.input)
	}
	if l.Output == 0 {
		l.Output = Count(w.output)
	}
}
