package config

import (
	"fmt"
	"os"
	"strings"

	"sonde/probe/arrivals"
	"sonde/probe/length"
)

// derive fills in what follows from other settings.
func (r *resolved) derive() error {
	c := &r.config
	r.deriveLengths(c)
	if err := r.deriveConcurrency(c); err != nil {
		return err
	}
	if c.Requests > 0 && !r.given("duration") {
		c.Duration = 0
		r.origins["duration"] = origin{rankDefault, "no limit with --requests"}
	}
	if err := r.deriveTrace(c); err != nil {
		return err
	}
	c.SeedSet = r.given("seed")
	if err := r.derivePrometheus(c); err != nil {
		return err
	}
	if err := r.checkOperator(); err != nil {
		return err
	}
	return r.deriveKey(c)
}

// deriveLengths takes the workload's lengths, unless a length was given in the same place
// as the workload or a stronger one.
func (r *resolved) deriveLengths(c *Config) {
	if c.Workload == "" { // the command takes no load
		return
	}
	w := workloadOf(c.Workload)
	asked := r.origins["workload"].rank
	if asked == rankDefault && c.URL == "" && r.command.name == "" && c.Trace.File == "" {
		w = r.demonstrate(c)
	}
	for _, l := range []struct {
		key   string
		field *length.Length
		value int
	}{{"input", &c.Input, w.input}, {"output", &c.Output, w.output}} {
		if o := r.origins[l.key]; o.rank == rankDefault || o.rank < asked {
			*l.field = length.Length{Mean: l.value}
			r.origins[l.key] = origin{rankDefault, "workload " + w.name}
		}
	}
}

// demonstrate gives the load of the demonstration, and its machine the KV cache for
// it unless another machine was asked for.
func (r *resolved) demonstrate(c *Config) workload {
	for _, key := range []string{"sim.model", "sim.gpu", "sim.kv-gb", "sim.kv-dtype"} {
		if r.given(key) {
			return demonstration.workload
		}
	}
	c.Sim.KVGB = demonstration.kvGB
	r.origins["sim.kv-gb"] = origin{rankDefault, demonstration.name}
	return demonstration.workload
}

// deriveConcurrency: watching sends nothing, and in the open loop the cap is all
// there is room for, unless one was asked for.
func (r *resolved) deriveConcurrency(c *Config) error {
	asked, watching := r.origins["concurrency"].rank, r.origins["watch"].rank
	if c.Watch {
		if c.Concurrency > 0 && asked > rankDefault && asked >= watching {
			return r.fail("concurrency", "--watch sends no load: omit one of them")
		}
		if c.Rate.To > 0 && r.origins["rate"].rank >= watching {
			return r.fail("rate", "--watch sends no load: omit one of them")
		}
		c.Concurrency, c.Rate = 0, arrivals.Rate{}
		r.origins["concurrency"] = origin{rankDefault, "watch"}
		return nil
	}
	if c.Rate.To > 0 && asked == rankDefault {
		c.Concurrency = c.MaxConcurrency
		r.origins["concurrency"] = origin{rankDefault, "max-concurrency"}
	}
	return nil
}

// derivePrometheus makes the server the source of what was not given a source of
// its own.
func (r *resolved) derivePrometheus(c *Config) error {
	if c.Prometheus == "" {
		if c.Selector != "" && r.origins["selector"].rank == rankFlag {
			return r.fail("selector", "chooses series of a Prometheus server: add --prometheus URL")
		}
		return nil
	}
	for key, field := range map[string]*string{"metrics": &c.Metrics, "gpu": &c.GPU} {
		if !r.given(key) {
			*field = fromPrometheus
			r.origins[key] = origin{rankDefault, "--prometheus"}
		}
	}
	return nil
}

// deriveKey takes the key from the variable that is named for it, unless a
// stronger place gives the key itself.
func (r *resolved) deriveKey(c *Config) error {
	from := max(rankShared, r.origins["api-key-env"].rank)
	if c.APIKeyEnv != "" && r.origins["api-key"].rank < from {
		if key := strings.TrimSpace(os.Getenv(c.APIKeyEnv)); key != "" {
			c.APIKey = key
			r.origins["api-key"] = origin{rankEnv, c.APIKeyEnv}
		} else if c.URL != "" && c.APIKeyEnv != openAIKey {
			return r.fail("api-key-env", fmt.Sprintf("the environment variable %s is not set", c.APIKeyEnv))
		}
	}
	if c.APIKey != "" {
		c.KeyFrom = r.origins["api-key"].keyPlace(r.file.path)
	}
	return nil
}

// shortWorkloads fits a line of help.
const shortWorkloads = "chat, rag, code, …"

// workload is a usual pair of prompt and answer lengths.
type workload struct {
	name          string
	input, output int // tokens
}

// workloads are what a prompt and an answer of the kind usually measure. The last
// two lean on one phase of the engine, with enough of the other to be measured.
var workloads = []workload{
	{"chat", 256, 128},
	{"rag", 4096, 256},
	{"agent", 8192, 512},
	{"summarize", 6144, 384},
	{"code", 2048, 1024},
	{"prefill", 8192, 16},
	{"decode", 64, 1024},
}

// demonstration is what the live screen sends to the embedded engine unless something
// else is asked for. On the engine's usual machine the prompt takes about a second
// and the answer some five: long enough to tell prefill and decode apart in readings
// that come once a second. The KV cache has room for 14 such streams.
var demonstration = struct {
	workload
	kvGB float64 // 1e9 bytes
}{workload{"demo", 8192, 512}, 16}

func workloadNames() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// workloadOf finds a workload by its name; an unknown one is the first.
func workloadOf(name string) workload {
	for _, w := range workloads {
		if w.name == name {
			return w
		}
	}
	return workloads[0]
}
