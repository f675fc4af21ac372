package scrape

import "testing"

// Whoever scrapes a target puts labels on its series: one target counts once, under
// whatever names, and two targets stay two.
func TestATargetCountsOnce(t *testing.T) {
	for name, c := range map[string]struct {
		page    string
		running float64
	}{
		"federation of two Prometheus servers": {`
vllm:num_requests_running{prometheus="mon/a",prometheus_replica="prom-a-0",instance="10.0.0.5:8000",pod="vllm-0",model_name="m"} 3
vllm:num_requests_running{prometheus="mon/b",prometheus_replica="prom-b-0",instance="10.0.0.5:8000",pod="vllm-0",model_name="m"} 3
`, 3},
		"replica of an HA pair": {`
vllm:num_requests_running{replica="a",instance="h:1"} 3
vllm:num_requests_running{replica="b",instance="h:1"} 3
`, 3},
		"no label of the target": {`
vllm:num_requests_running{prometheus="a"} 3
vllm:num_requests_running{prometheus="b"} 3
`, 3},
		"two ServiceMonitors with labels of their own": {`
vllm:num_requests_running{job="a",service="s",endpoint="http",instance="h:1",pod="p"} 3
vllm:num_requests_running{job="b",team="x",instance="h:1"} 3
`, 3},
		"an instance that one job calls by the pod": {`
vllm:num_requests_running{job="a",instance="10.0.0.5:8000",pod="p"} 3
vllm:num_requests_running{job="b",instance="p",pod="p"} 3
`, 3},
		"the newest of an HA pair": {`
vllm:num_requests_running{replica="a",instance="h:1"} 3
vllm:generation_tokens_total{replica="a",instance="h:1"} 1000
vllm:num_requests_running{replica="b",instance="h:1"} 5
vllm:generation_tokens_total{replica="b",instance="h:1"} 1400
`, 5},
		"an unknown label, and the same figures": {`
vllm:num_requests_running{via="x",instance="h:1"} 3
vllm:generation_tokens_total{via="x",instance="h:1"} 100000
vllm:prompt_tokens_total{via="x",instance="h:1"} 300000
vllm:num_requests_running{via="y",instance="h:1"} 4
vllm:generation_tokens_total{via="y",instance="h:1"} 100400
vllm:prompt_tokens_total{via="y",instance="h:1"} 300000
`, 4},
		"one address in two clusters": {`
vllm:num_requests_running{cluster="east",instance="h:1"} 3
vllm:generation_tokens_total{cluster="east",instance="h:1"} 1000
vllm:num_requests_running{cluster="west",instance="h:1"} 4
vllm:generation_tokens_total{cluster="west",instance="h:1"} 9000
`, 7},
		"two pods on a node":            {"vllm:num_requests_running{job=\"a\",instance=\"node\",pod=\"p\"} 3\nvllm:num_requests_running{job=\"a\",instance=\"node\",pod=\"q\"} 3\n", 6},
		"two ports of a pod":            {"vllm:num_requests_running{job=\"a\",instance=\"h:1\",pod=\"p\"} 3\nvllm:num_requests_running{job=\"b\",instance=\"h:2\",pod=\"p\"} 3\n", 6},
		"two ranks":                     {"vllm:num_requests_running{instance=\"h:1\",engine=\"0\"} 3\nvllm:num_requests_running{instance=\"h:1\",engine=\"1\"} 3\n", 6},
		"two instances of an HA pair":   {"vllm:num_requests_running{replica=\"a\",instance=\"h:1\"} 3\nvllm:num_requests_running{replica=\"b\",instance=\"h:2\"} 3\n", 6},
		"names with the colon replaced": {"vllm_num_requests_running{instance=\"h:1\"} 3\nvllm_num_requests_running{instance=\"h:2\"} 4\n", 7},
	} {
		t.Run(name, func(t *testing.T) { check(t, "running", take(t, c.page, "").Running, c.running) })
	}
}

// What one scraper drops, another may have.
func TestScrapersCompleteEachOther(t *testing.T) {
	got := take(t, `vllm:num_requests_running{job="a",instance="h:1"} 3
vllm:generation_tokens_total{job="b",instance="h:1"} 700
`, "")
	check(t, "running", got.Running, 3)
	check(t, "tokens", got.GenerationTokens, 700)
}

// A server of an HA pair that is a scrape behind, or gone, makes no restart and no replica
// that leaves.
func TestScrapersComeAndGo(t *testing.T) {
	both := take(t, `vllm:num_requests_running{replica="a",job="x",instance="h:1"} 3
vllm:generation_tokens_total{replica="a",job="x",instance="h:1"} 1000
vllm:num_requests_running{replica="b",job="x",instance="h:1"} 3
vllm:generation_tokens_total{replica="b",job="x",instance="h:1"} 900
`, "")
	one := take(t, `vllm:num_requests_running{replica="b",job="x",instance="h:1"} 3
vllm:generation_tokens_total{replica="b",job="x",instance="h:1"} 1100
`, "")
	one.regroup(&both)
	one.since(&both)
	if one.Restarted || one.Regrouped {
		t.Errorf("restarted %t, regrouped %t", one.Restarted, one.Regrouped)
	}
}
