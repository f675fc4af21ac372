package config

import (
	"strings"

	"sonde/probe/crew"
)

// Workers says how processes on other machines send the load.
type Workers struct {
	NATS  string // address of the NATS server, "embedded", or "" for none: this process sends the load
	Creds string // NATS credentials file; "" is none
	Run   string // what the workers and their operator have in common
	Min   int    // how many to wait for before the load begins
}

// Embedded reports whether this process serves NATS itself, and at which address.
func (w *Workers) Embedded() (address string, yes bool) {
	rest, yes := strings.CutPrefix(w.NATS, embeddedNATS)
	if !yes {
		return "", false
	}
	if rest = strings.TrimPrefix(rest, "://"); rest == "" {
		rest = "127.0.0.1:4222"
	}
	return rest, true
}

const embeddedNATS = "embedded"

func workerSettings(c *Config) []setting {
	w := &c.Workers
	return append(in(groupWorkers, []setting{
		{key: "nats", arg: "URL", help: "NATS server of the workers, or embedded", check: w.checkNATS, secret: true, field: &w.NATS},
		{key: "nats-creds", arg: "FILE", help: "NATS credentials", check: readable(&w.Creds), secret: true, field: &w.Creds},
		{key: "run", arg: "NAME", initial: "sonde", help: "name of the run that workers join", check: func() string { return crew.CheckRun(w.Run) }, field: &w.Run},
	}), in(groupOperator, []setting{
		{key: "workers", arg: "N", initial: "1", help: "with --nats: workers to wait for", check: between(&w.Min, 1, 10_000), field: &w.Min},
	})...)
}

func (w *Workers) checkNATS() string {
	address, embedded := w.Embedded()
	switch {
	case embedded && w.NATS != embeddedNATS && !strings.HasPrefix(w.NATS, embeddedNATS+"://"):
		return "must be embedded or embedded://HOST:PORT"
	case embedded:
		return listensAt(&address)()
	case strings.ContainsAny(w.NATS, " \t"):
		return "must be an address such as nats://host:4222 or tls://host:4222"
	}
	return ""
}

// checkOperator refuses what workers cannot do.
func (r *resolved) checkOperator() error {
	c := &r.config
	switch {
	case c.Workers.NATS == "" || r.command.name == "worker":
		return nil
	case c.Watch:
		return r.fail("watch", "sends no load: omit it, or --nats")
	case c.Trace.File != "":
		return r.fail("trace", "is replayed by one process: omit it, or --nats")
	case c.Prompts != "":
		return r.fail("prompts", "is a file of this machine, which workers elsewhere cannot read: omit it, or --nats")
	}
	return nil
}

// checkWorker refuses the server of another process under the name of this one's.
func checkWorker(r *resolved) error {
	if _, embedded := r.config.Workers.Embedded(); embedded {
		return r.fail("nats", "must be the address of the operator's server, such as nats://host:4222")
	}
	return nil
}
