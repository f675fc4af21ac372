package config

import (
	"reflect"
	"strings"
	"testing"

	"sonde/probe/sim"
)

func TestSimFlags(t *testing.T) {
	clean(t)
	got := must(t, strings.Fields("sim --listen 127.0.0.1:9000 --model M --gpu G --max-seqs 3 --token-budget 4 --kv-gb 5 --speed 2 --tp 2 --dtype fp8 "+
		"--kv-dtype fp8 --max-model-len 6 --block-size 7 --unchunked --no-prefix-cache --disaggregated --spec-tokens 8 --spec-acceptance 0.9 --transfer-gbs 10 "+
		"--reasoning 0.5 --faults clump=2 --scenario overload --seed 11")...).Sim
	want := Sim{Listen: "127.0.0.1:9000", Inject: "clump=2", Options: sim.Options{Model: "M", GPU: "G", MaxSeqs: 3, TokenBudget: 4, KVGB: 5, Speed: 2, TP: 2, Dtype: "fp8", KVDtype: "fp8",
		MaxModelLen: 6, BlockTokens: 7, Unchunked: true, NoPrefixCache: true, Disaggregated: true, SpecTokens: 8, SpecAcceptance: 0.9, TransferGBs: 10,
		Reasoning: 0.5, Scenario: "overload", Seed: 11}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// The other commands embed the same engine: its settings come from the environment
// and the file.
func TestEmbeddedEngineFromEnvironmentAndFile(t *testing.T) {
	path := clean(t)
	write(t, path, "[sim]\nunchunked = true\nreasoning = 12\n")
	t.Setenv("SONDE_SIM_SCENARIO", "noisy-neighbour")
	for _, args := range []string{"", "bench"} {
		if s := must(t, strings.Fields(args)...).Sim; s.Scenario != "noisy-neighbour" || !s.Unchunked || s.Reasoning != 12 {
			t.Errorf("sonde %s: %+v", args, s)
		}
	}
}
