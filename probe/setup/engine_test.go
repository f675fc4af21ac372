package setup

import (
	"errors"
	"strings"
	"testing"

	"sonde/config"
	"sonde/probe/sim"
)

// Every setting of the embedded engine reaches it.
func TestEngineIsTheMachineThatWasAsked(t *testing.T) {
	e, err := Engine(config.Config{Sim: config.Sim{Inject: "clump=4,slow=2", Options: sim.Options{
		Model: "Llama-3.1-70B", GPU: "H200", TP: 2, Dtype: "fp8", MaxModelLen: 4096, KVGB: 20, Speed: 1, Scenario: "overload",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Llama-3.1-70B", "2 × H200", "context 4096 tokens"} {
		if !strings.Contains(e.Describe(), part) {
			t.Errorf("%q does not say %q", e.Describe(), part)
		}
	}
	if e.Faults().String() != "clump=4,slow=2" {
		t.Errorf("faults %q", e.Faults().String())
	}
}

func TestEngineSettingsThatCannotWorkAreWrongUsage(t *testing.T) {
	for want, s := range map[string]config.Sim{
		"unknown scenario":  {Options: sim.Options{Scenario: "tsunami"}},
		"unknown fault":     {Inject: "flood=1"},
		"reasoning must be": {Options: sim.Options{Reasoning: 1.5}},
		"unknown GPU":       {Options: sim.Options{GPU: "abacus"}},
	} {
		var exit *config.ExitError
		s.Speed = 1
		if _, err := Engine(config.Config{Sim: s}); !errors.As(err, &exit) || exit.Code != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}

func TestScenariosAreListed(t *testing.T) {
	for _, name := range []string{"overload", "long-prompts", "kv-exhaustion", "buffering-proxy", "noisy-neighbour"} {
		if !strings.Contains(sim.DescribeScenarios(), "  "+name+" ") {
			t.Errorf("no %s in\n%s", name, sim.DescribeScenarios())
		}
	}
}
