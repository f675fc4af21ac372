package plan

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"sonde/probe/opt"
	"sonde/probe/roofline"
)

func is(t *testing.T, what string, got opt.Float, want float64) {
	t.Helper()
	if !got.OK || math.Abs(got.V-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func made(t *testing.T, a Ask) Plan {
	t.Helper()
	p, err := Make(a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// By hand: 4/s × 60 = 240/min; × 6,000 = 1.44 M; × 1,000 = 0.24 M; together
// 1.68 M; 4/s × 15 s = 60 in flight. Half as much again is 6/s, 90 and 2.52 M.
// 60 in flight hold 6,000 + 500 tokens each on average, 7,000 at most.
func TestQPSToTokensAndConcurrency(t *testing.T) {
	p := made(t, Ask{Headroom: 0.5, Workloads: []Workload{{RequestsPerS: 4, Input: 6000, Output: 1000, E2ES: 15}}})
	d, h := p.Total.Demand, p.WithHeadroom
	is(t, "RPM", d.RPM, 240)
	is(t, "input TPM", d.InputTPM, 1_440_000)
	is(t, "output TPM", d.OutputTPM, 240_000)
	is(t, "TPM", d.TotalTPM, 1_680_000)
	is(t, "in flight", d.Concurrency, 60)
	is(t, "KV tokens", d.KVTokens, 390_000)
	is(t, "KV tokens at most", d.KVTokensMost, 420_000)
	is(t, "req/s with headroom", h.RequestsPerS, 6)
	is(t, "in flight with headroom", h.Concurrency, 90)
	is(t, "TPM with headroom", h.TotalTPM, 2_520_000)
	if d.KVBytes.OK || d.KVBytesMost.OK {
		t.Error("bytes are known without a model")
	}
}

// 5,000 tokens a request: 1 M tokens a minute are 200 requests, well below 1,000.
// No rate is needed for that.
func TestTheQuotaThatBindsFirst(t *testing.T) {
	p := made(t, Ask{Workloads: []Workload{{Input: 4000, Output: 1000}}, Limits: []Limit{{"tpm", 1e6}, {"rpm", 1000}}})
	if p.Binding == nil || p.Binding.Limit != "tpm" || p.Binding.Fits != nil {
		t.Fatalf("binding %+v", p.Binding)
	}
	is(t, "binding RPM", p.Binding.RPM, 200)
	is(t, "the limit of requests", p.Limits[0].MaxRPM, 1000)
	if p.Total.RPM.OK || p.Limits[0].Share.OK {
		t.Error("a rate that nobody gave")
	}
}

// Latency 2 s: 10 in flight are 5/s = 300/min. 500 output tokens: 60 k a minute
// are 120. Without a latency the limit of concurrency is unknown, and says so.
func TestLimitsOfEveryKind(t *testing.T) {
	limits := []Limit{{"concurrency", 10}, {"output_tpm", 60_000}, {"input_tpm", 1e6}, {"kv_tokens", 3000}}
	w := Workload{Input: 1000, Output: 500, E2ES: 2}
	p := made(t, Ask{Workloads: []Workload{w}, Limits: limits})
	// 3,000 tokens hold two requests at their longest, 1 a second, 60 a minute.
	for name, want := range map[string]float64{"concurrency": 300, "output_tpm": 120, "input_tpm": 1000, "kv_tokens": 60} {
		for _, l := range p.Limits {
			if l.Limit == name {
				is(t, name, l.MaxRPM, want)
			}
		}
	}
	if p.Binding.Limit != "kv_tokens" {
		t.Errorf("%s binds", p.Binding.Limit)
	}
	w.E2ES = 0
	p = made(t, Ask{Workloads: []Workload{w}, Limits: limits})
	if p.Binding.Limit != "output_tpm" || !strings.Contains(strings.Join(p.Notes, " "), "concurrency may bind earlier") {
		t.Errorf("%s binds, notes %q", p.Binding.Limit, p.Notes)
	}
}

// With headroom 50 % on 4/s: 360 RPM of 300 do not fit, of 400 they do.
func TestALoadThatFits(t *testing.T) {
	for quota, fits := range map[float64]bool{300: false, 360: true, 400: true} {
		p := made(t, Ask{Headroom: 0.5, Workloads: []Workload{{RequestsPerS: 4, Input: 1, Output: 1}}, Limits: []Limit{{"rpm", quota}}})
		if *p.Binding.Fits != fits {
			t.Errorf("360 of %v fits: %v", quota, !fits)
		}
	}
}

// 100 users, 20 s to think, and answers of 5 s: 4 requests a second, 20 in flight.
// 1 s + 0.04 s × 100 = 5 s.
func TestUsersAndTheirPause(t *testing.T) {
	for _, w := range []Workload{
		{Users: 100, ThinkS: 20, Input: 10, Output: 101, E2ES: 5},
		{Users: 100, ThinkS: 20, Input: 10, Output: 101, TTFTS: 1, TPOTS: 0.04},
	} {
		p := made(t, Ask{Workloads: []Workload{w}})
		is(t, "req/s", p.Total.RequestsPerS, 4)
		is(t, "in flight", p.Total.Concurrency, 20)
		is(t, "E2E", p.Total.E2ES, 5)
	}
}

// Llama-3.1-8B: 32 layers × 8 heads × 128 × 2 (key, value) × 2 bytes = 131,072 a token.
func TestBytesOfTheCache(t *testing.T) {
	model, err := roofline.ModelNamed("Llama-3.1-8B")
	if err != nil {
		t.Fatal(err)
	}
	p := made(t, Ask{Model: &model, Workloads: []Workload{{RequestsPerS: 1, Input: 900, Output: 200, E2ES: 10}}})
	is(t, "bytes a token", opt.Of(p.Model.KVBytesPerToken), 131_072)
	is(t, "mean bytes", p.Total.KVBytes, 10*1000*131_072)
	is(t, "most bytes", p.Total.KVBytesMost, 10*1100*131_072)
}

// gpt-oss-20b: 12 of 24 layers keep 128 tokens. A layer holds 8 × 64 × 2 × 2 =
// 2,048 bytes a token: 2,048 × (12 × 1,000 + 12 × 128) for 1,000 tokens.
func TestBytesOfWindowedLayers(t *testing.T) {
	model, err := roofline.ModelNamed("gpt-oss-20b")
	if err != nil {
		t.Fatal(err)
	}
	p := made(t, Ask{Model: &model, Workloads: []Workload{{RequestsPerS: 1, Input: 900, Output: 100, E2ES: 1}}})
	is(t, "most bytes", p.Total.KVBytesMost, 2048*(12*1000+12*128))
	if !strings.Contains(strings.Join(p.Notes, " "), "window") {
		t.Error("nobody is told of the windows")
	}
}

// 1/s of 100 + 50 in 2 s and 3/s of 500 + 10 in 4 s: by hand 4/s, 96,000 and
// 4,800 a minute, 2 + 12 in flight; the mean request has 400 + 20 tokens, 3.5 s.
func TestSeveralWorkloadsAddUp(t *testing.T) {
	a := Workload{Name: "a", RequestsPerS: 1, Input: 100, Output: 50, E2ES: 2}
	b := Workload{Name: "b", RequestsPerS: 3, Input: 500, Output: 10, E2ES: 4}
	p := made(t, Ask{Workloads: []Workload{a, b}, Limits: []Limit{{"tpm", 50_400}}})
	is(t, "req/s", p.Total.RequestsPerS, 4)
	is(t, "input TPM", p.Total.InputTPM, 96_000)
	is(t, "output TPM", p.Total.OutputTPM, 4_800)
	is(t, "in flight", p.Total.Concurrency, 14)
	is(t, "input", opt.Of(p.Total.InputTokens), 400)
	is(t, "output", opt.Of(p.Total.OutputTokens), 20)
	is(t, "E2E", p.Total.E2ES, 3.5)
	is(t, "half the tokens, half the mix", p.Binding.RPM, 120)
	b.E2ES = 0
	if p := made(t, Ask{Workloads: []Workload{a, b}}); p.Total.Concurrency.OK || p.Total.E2ES.OK || !p.Total.TotalTPM.OK {
		t.Errorf("a part is unknown: %+v", p.Total)
	}
}

func anyWorkload(r *rand.Rand) Workload {
	return Workload{RequestsPerS: math.Exp(r.NormFloat64() * 4), Input: 1 + math.Exp(r.Float64()*12), Output: 1 + math.Exp(r.Float64()*10), E2ES: math.Exp(r.NormFloat64() * 3)}
}

// figures are all numbers of a Demand.
func figures(d Demand) []float64 {
	var all []float64
	v := reflect.ValueOf(d)
	for i := range v.NumField() {
		all = append(all, v.Field(i).Interface().(opt.Float).V)
	}
	return all
}

func same(a, b []float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9*math.Max(math.Abs(a[i]), math.Abs(b[i])) || math.IsNaN(a[i]) || math.IsInf(a[i], 0) {
			return false
		}
	}
	return len(a) == len(b)
}

// Whatever the workloads: their order does not matter, their total is the sum of
// what each alone asks for, and twice the rate asks for twice of everything.
func TestAddingAndDoubling(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	model, _ := roofline.ModelNamed("gpt-oss-20b")
	for range 300 {
		var all []Workload
		for range 1 + r.IntN(5) {
			all = append(all, anyWorkload(r))
		}
		ask := Ask{Workloads: all, Model: &model, Limits: []Limit{{"rpm", 100}, {"tpm", 1e5}, {"concurrency", 5}}}
		p := made(t, ask)
		sum := make([]float64, len(figures(p.Total.Demand)))
		for _, w := range all {
			for i, v := range figures(made(t, Ask{Workloads: []Workload{w}, Model: &model}).Total.Demand) {
				sum[i] += v
			}
		}
		shuffled := ask
		shuffled.Workloads = append([]Workload{}, all...)
		r.Shuffle(len(all), func(i, j int) {
			shuffled.Workloads[i], shuffled.Workloads[j] = shuffled.Workloads[j], shuffled.Workloads[i]
		})
		doubled := ask
		doubled.Workloads = append([]Workload{}, all...)
		for i := range all {
			doubled.Workloads[i].RequestsPerS *= 2
		}
		other, twice := made(t, shuffled), made(t, doubled)
		got := figures(p.Total.Demand)
		half := figures(twice.Total.times(opt.Of(0.5)))
		if !same(got, sum) || !same(got, figures(other.Total.Demand)) || !same(got, half) {
			t.Fatalf("of %+v: %v, sum %v, shuffled %v, half the double %v", all, got, sum, other.Total, half)
		}
		if !same([]float64{p.Binding.RPM.V}, []float64{other.Binding.RPM.V}) || !same([]float64{p.Binding.RPM.V}, []float64{twice.Binding.RPM.V}) {
			t.Fatalf("the binding quota moved: %+v, %+v, %+v", p.Binding, other.Binding, twice.Binding)
		}
	}
}

func TestWhatCannotBePlanned(t *testing.T) {
	for want, a := range map[string]Ask{
		"no workload given": {},
		"--input 6k":        {Workloads: []Workload{{RequestsPerS: 1}}},
		"--output 1k":       {Workloads: []Workload{{RequestsPerS: 1, Input: 5}}},
		"workload x: the request rate is missing": {Workloads: []Workload{{Name: "x", Input: 5, Output: 5}, {Name: "y", RequestsPerS: 1, Input: 5, Output: 5}}},
		"--qps 4":             {Workloads: []Workload{{Input: 5, Output: 5}}},
		"a rate and users":    {Workloads: []Workload{{RequestsPerS: 1, Users: 1, Input: 5, Output: 5, E2ES: 1}}},
		"think is the pause":  {Workloads: []Workload{{RequestsPerS: 1, ThinkS: 1, Input: 5, Output: 5, E2ES: 1}}},
		"e2e and ttft":        {Workloads: []Workload{{RequestsPerS: 1, Input: 5, Output: 5, E2ES: 1, TTFTS: 1}}},
		"add --tpot":          {Workloads: []Workload{{RequestsPerS: 1, Input: 5, Output: 5, TTFTS: 1}}},
		"add --ttft":          {Workloads: []Workload{{RequestsPerS: 1, Input: 5, Output: 5, TPOTS: 1}}},
		"--e2e 15s":           {Workloads: []Workload{{Users: 1, Input: 5, Output: 5}}},
		"0 and 1e12":          {Workloads: []Workload{{RequestsPerS: math.Inf(1), Input: 5, Output: 5}}},
		"must be between":     {Workloads: []Workload{{RequestsPerS: math.NaN(), Input: 5, Output: 5}}},
		"a limit must be one": {Workloads: []Workload{{Input: 5, Output: 5}}, Limits: []Limit{{"tpd", 1}}},
	} {
		if _, err := Make(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
