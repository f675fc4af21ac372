package config

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sonde/probe/plan"
)

// The forms that people write, by hand: 1.5M is 1,500,000; 240 a minute are 4 a second.
func TestAmounts(t *testing.T) {
	for text, want := range map[string]float64{"6000": 6000, "6k": 6000, " 6 K": 6000, "1.5M": 1_500_000, "2G": 2e9, "1B": 1e9, "0": 0, "0.5": 0.5,
		"1,000": 1000, "1_440_000": 1_440_000, "1,234.5": 1234.5} {
		if got, err := parseCount(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]float64{"4": 4, "4/s": 4, "240/min": 4, "240 / min": 4, "7.2k/h": 2, "86400/day": 1} {
		if got, err := parsePerSecond(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]float64{"50%": 0.5, "50 %": 0.5, "0.5": 0.5, "0": 0, "1": 1, "150%": 1.5, "0.1%": 0.001} {
		if got, err := parseFraction(text); err != nil || math.Abs(got-want) > 1e-15 {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "-1", "+1", "1e3", "0x10", "NaN", "Inf", "1..2", ".", "1kk", "1,00", ",100", "1,0000", "9999999G", "1 000", "ten"} {
		if v, err := parseCount(text); err == nil {
			t.Errorf("%q is taken for %v", text, v)
		}
	}
	for _, text := range []string{"4/", "4/fortnight", "/min", "4/min/s"} {
		if v, err := parsePerSecond(text); err == nil {
			t.Errorf("%q is taken for %v", text, v)
		}
	}
	if v, err := parseFraction("50"); err == nil {
		t.Errorf("50 is taken for %v: it may be 50%% or 5000%%", v)
	}
}

func FuzzAmounts(f *testing.F) {
	for _, s := range []string{"1.5M", "240/min", "50%", "1,000", "-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, read := range []func(string) (float64, error){parseCount, parsePerSecond, parseFraction, parsePerMinute} {
			if v, err := read(s); err == nil && !(v >= 0 && v <= largest) {
				t.Errorf("%q is %v", s, v)
			}
		}
		_, _ = parsePlanLoads([]string{s})
		_, _ = parsePlanLimits([]string{s})
	})
}

func TestPlanFromFlags(t *testing.T) {
	clean(t)
	o := call("plan", "--rpm", "240", "-", "x")
	if o.code != 2 {
		t.Errorf("arguments: code %d", o.code)
	}
	o = call(strings.Fields("plan --rpm 240 --input 6k --output 1,000 --ttft 500ms --tpot 14.5ms --headroom 50% --limit rpm=1k,input-tpm=1.5M --limit concurrency=64 --model m --from f --slo ttft_p95=2s")...)
	p := o.config.Plan
	if o.code != 0 || o.command != "plan" || len(p.Loads) != 1 {
		t.Fatalf("code %d, ran %q, %s", o.code, o.command, o.stderr)
	}
	want := PlanLoad{Workload: plan.Workload{RequestsPerS: 4, Input: 6000, Output: 1000, TTFTS: 0.5, TPOTS: 0.0145}}
	if p.Loads[0] != want || p.Headroom != 0.5 || p.Model != "m" || p.From != "f" || len(p.SLO) != 1 {
		t.Errorf("%+v", p)
	}
	if !slices.Equal(p.Limits, []plan.Limit{{Name: "rpm", Quota: 1000}, {Name: "input_tpm", Quota: 1.5e6}, {Name: "concurrency", Quota: 64}}) {
		t.Errorf("limits %v", p.Limits)
	}
}

// Inside a workload come first its own words, then the flags, then what its name
// stands for.
func TestWorkloadsTakeWhatTheyLeaveOpen(t *testing.T) {
	clean(t)
	o := call("plan", "--workload", "chat:qps=2,input=512,e2e=8s", "--workload", "my own: users=50 , think=30s", "--workload", "rag:rpm=60", "--output", "300", "--tpot", "20ms", "--ttft", "1s", "--input", "1k")
	if o.code != 0 {
		t.Fatal(o.stderr)
	}
	for i, l := range o.config.Plan.Loads {
		want := []plan.Workload{
			{Name: "chat", RequestsPerS: 2, Input: 512, Output: 300, E2ES: 8},
			{Name: "my own", Users: 50, ThinkS: 30, Input: 1000, Output: 300, TTFTS: 1, TPOTS: 0.02},
			{Name: "rag", RequestsPerS: 1, Input: 1000, Output: 300, TTFTS: 1, TPOTS: 0.02},
		}[i]
		if l.Workload != want {
			t.Errorf("got %+v\nwant %+v", l, want)
		}
	}
	o = call("plan", "--workload", "rag", "--qps", "2")
	if l := o.config.Plan.Loads[0]; o.code != 0 || l.RequestsPerS != 2 || l.Input != 4096 || l.Output != 256 {
		t.Errorf("%+v, %s", l, o.stderr)
	}
}

func TestPlanFromTheFile(t *testing.T) {
	path := clean(t)
	write(t, path, "[plan]\nworkload = [\"a:qps=1,input=1k,output=10\", \"b:qps=240/min,input=5,output=5\"]\nheadroom = 0.25\nlimit = \"tpm=1M\"\ninput = 7\noutput = \"2k\"\n")
	o := call("plan")
	p := o.config.Plan
	if o.code != 0 || len(p.Loads) != 2 || p.Loads[1].RequestsPerS != 4 || p.Headroom != 0.25 || p.Limits[0].Quota != 1e6 {
		t.Errorf("%+v, %s", p, o.stderr)
	}
	if o := call("bench", "h:1"); o.code != 0 {
		t.Errorf("bench minds the plan: %s", o.stderr)
	}
	printed := call("plan", "--print-config").stdout
	write(t, path, printed)
	if again := call("plan"); again.code != 0 || len(again.config.Plan.Loads) != 2 || again.config.Plan.Limits[0] != p.Limits[0] {
		t.Errorf("what was printed reads as %+v, %s\n%s", again.config.Plan, again.stderr, printed)
	}
}

func TestPlanRefuses(t *testing.T) {
	clean(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--qps", "-4"}, "--qps -4: must be a rate such as 4 (per second) or 240/min"},
		{[]string{"--qps", "0"}, "--qps 0: must be above 0"},
		{[]string{"--qps", "4", "--rpm", "240"}, "--rpm 240: is --qps per minute: omit one of them"},
		{[]string{"--input", "long"}, "--input long: must be a number such as 6000, 6k or 1.5M"},
		{[]string{"--e2e", "15"}, "--e2e 15: must be a time with its unit"},
		{[]string{"--e2e", "-15s"}, "--e2e -15s: must not be negative"},
		{[]string{"--think", "-1s"}, "--think -1s: must not be negative"},
		{[]string{"--headroom", "50"}, "--headroom 50: must be a share such as 50% or 0.5"},
		{[]string{"--headroom", "99999%"}, "must be at most 10000%"},
		{[]string{"--limit", "rpm"}, `"rpm" needs a number above 0`},
		{[]string{"--limit", "rpn=5"}, `--limit: "rpn" must be one of rpm, tpm`},
		{[]string{"--limit", "rpm=5,rpm=6"}, `--limit: "rpm" is given twice`},
		{[]string{"--workload", ":qps=1"}, "must begin with a name"},
		{[]string{"--workload", "a\x1b[2J:qps=1"}, "must begin with a name"},
		{[]string{"--workload", "a:inptu=1"}, "has an unknown key 'inptu': must be qps, rpm"},
		{[]string{"--workload", "a:qps=1,qps=2"}, "has qps twice"},
		{[]string{"--workload", "a:qps=1,rpm=2"}, "has both qps and rpm: omit one of them"},
		{[]string{"--workload", "a:e2e=5"}, "is invalid: e2e must be a time with its unit"},
		{[]string{"--workload", "a:qps=1", "--workload", "a:qps=2"}, `"a" is given twice`},
		{[]string{"--workload", "a:qps=1", "--workload", "b:qps=2", "--qps", "3"}, "belongs inside each workload"},
		{[]string{"--workload", "a:qps=1", "--rpm", "3"}, "--rpm 3: belongs inside each workload"},
		{[]string{"--qps", "1", "--slo", "ttft_p95=2s"}, "chooses among measured levels: add --from FILE"},
		{[]string{"http://h"}, "plan takes flags only, no arguments (sonde plan --help)"},
	} {
		o := call(append([]string{"plan"}, c.args...)...)
		if o.code != 2 || o.command != "" || !strings.Contains(o.stderr, c.want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%q: code %d, %q, want %q", c.args, o.code, o.stderr, c.want)
		}
	}
}
