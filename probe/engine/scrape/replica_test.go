package scrape

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/prom"
)

// namesOfAll are the names of replicas, in their order.
func namesOfAll(all []engine.Replica) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.Name)
	}
	return out
}

func replica(t *testing.T, s engine.Status, name string) engine.Replica {
	t.Helper()
	for _, r := range s.Replicas {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no replica %s among %q", name, namesOfAll(s.Replicas))
	return engine.Replica{}
}

// The sum goes along with its parts, and one part alone can be read: at once, with
// its own age, without another scrape.
func TestOneReplicaOfAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := reading(t, func(*http.Request) (int, string) {
			since := time.Since(begin) // of the scrapes, which end with the first
			return 200, scrapedBy(map[string]time.Duration{"h:1": since + 2*time.Second, "h:2": since + 4*time.Second}, twoReplicas()...)
		}, engine.Identity{Model: "m"})
		defer stop()
		synctest.Wait()
		all := source.Latest()
		if got := namesOfAll(all.Replicas); !slices.Equal(got, []string{"h:1", "h:2"}) || all.Reading.Replica != "" {
			t.Fatalf("replicas %q, of %q", got, all.Reading.Replica)
		}
		for name, want := range map[string]struct{ running, waiting, kv, age float64 }{"h:1": {3, 0, 0.2, 2}, "h:2": {5, 2, 0.6, 4}} {
			r := replica(t, all, name)
			check(t, name+" running", r.Running, want.running)
			check(t, name+" waiting", r.Waiting, want.waiting)
			check(t, name+" KV", r.KVFill, want.kv)
			if age := time.Since(r.At).Seconds(); !near(age, want.age) || r.GenerationTokensPerS.OK || r.Ranks != 1 || r.Instance != name {
				t.Errorf("%s: %v s old, %+v", name, age, r)
			}
		}
		source.SetReplica("h:2")
		synctest.Wait()
		one := source.Latest()
		check(t, "running", one.Reading.Running, 5)
		check(t, "KV", one.Reading.KVFill, 0.6)
		if one.Reading.Replica != "h:2" || one.Reading.TTFT.Count != 100 || time.Since(one.Reading.At) != 4*time.Second || len(one.Replicas) != 2 {
			t.Errorf("of h:2: %+v", one)
		}
		source.SetReplica("")
		synctest.Wait()
		check(t, "running of all again", source.Latest().Reading.Running, 8)
	})
}

// Rates of a replica are over the time between its own scrapes: h:2 is scraped every
// 1.5 s, h:1 every 2 s, and news come when both are newer. 100 and 30 tokens/s.
func TestRatesOfReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := reading(t, func(*http.Request) (int, string) {
			since := time.Since(begin)
			slow, fast := since.Truncate(2*time.Second), since.Truncate(1500*time.Millisecond)
			return 200, scrapedBy(map[string]time.Duration{"h:1": since - slow, "h:2": since - fast},
				`vllm:num_requests_running{instance="h:1"} 1`, `vllm:num_requests_running{instance="h:2"} 2`,
				fmt.Sprintf(`vllm:generation_tokens_total{instance="h:1"} %g`, 100*slow.Seconds()),
				fmt.Sprintf(`vllm:generation_tokens_total{instance="h:2"} %g`, 5000+30*fast.Seconds()))
		}, vllmIdentity)
		defer stop()
		time.Sleep(6500 * time.Millisecond)
		s := source.Latest()
		check(t, "h:1", replica(t, s, "h:1").GenerationTokensPerS, 100)
		check(t, "h:2", replica(t, s, "h:2").GenerationTokensPerS, 30)
		source.SetReplica("h:2") // its rate is known from the samples that are there
		synctest.Wait()
		check(t, "h:2 alone", source.Latest().Reading.GenerationTokensPerS, 30)
	})
}

// A replica that goes keeps its last reading, with the reason; the others stay to be
// chosen. When it is back its counters start over.
func TestTheReplicaThatIsLookedAtGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := reading(t, func(*http.Request) (int, string) {
			there := map[string]time.Duration{"h:1": 0, "h:3": 0}
			series := []string{`vllm:num_requests_running{instance="h:1"} 1`, `vllm:num_requests_running{instance="h:3"} 3`}
			if n := int(time.Since(begin).Seconds()); n < 2 || n > 4 {
				there["h:2"], series = 0, append(series, `vllm:num_requests_running{instance="h:2"} 2`)
			}
			return 200, scrapedBy(there, series...)
		}, vllmIdentity)
		defer stop()
		source.SetReplica("h:2")
		time.Sleep(3500 * time.Millisecond)
		got := source.Latest()
		if got.Why != "no series of replica h:2: there are h:1, h:3" || got.Reading.Running.Or(-1) != 2 || !slices.Equal(namesOfAll(got.Replicas), []string{"h:1", "h:3"}) {
			t.Errorf("while it is away: %+v", got)
		}
		time.Sleep(2 * time.Second)
		if got := source.Latest(); got.Why != "" || got.Reading.Replica != "h:2" || len(got.Replicas) != 3 {
			t.Errorf("back: %+v", got)
		}
	})
}

// The choice stays with the replica it was given to when another label has to tell
// replicas apart: two pods of one name in two namespaces.
func TestAChoiceOutlivesItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := reading(t, func(*http.Request) (int, string) {
			there := map[string]time.Duration{"h:1": 0, "h:2": 0}
			series := []string{`vllm:num_requests_running{instance="h:1",pod="vllm-0"} 1`, `vllm:num_requests_running{instance="h:2",pod="vllm-1"} 2`}
			if time.Since(begin) > 1500*time.Millisecond {
				there["h:0"], series = 0, append(series, `vllm:num_requests_running{instance="h:0",pod="vllm-1"} 7`)
			}
			return 200, scrapedBy(there, series...)
		}, vllmIdentity)
		defer stop()
		source.SetReplica("vllm-1")
		time.Sleep(500 * time.Millisecond)
		check(t, "vllm-1", source.Latest().Reading.Running, 2)
		time.Sleep(2 * time.Second)
		got := source.Latest()
		check(t, "the same one", got.Reading.Running, 2)
		if got.Reading.Replica != "h:2" || !slices.Equal(namesOfAll(got.Replicas), []string{"h:0", "h:1", "h:2"}) {
			t.Errorf("%q of %q", got.Reading.Replica, namesOfAll(got.Replicas))
		}
	})
}

// The ranks of a single engine are its parts, on its own page as well.
func TestOneRankOfAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(func(*http.Request) (int, string) {
			n := int(time.Since(begin).Seconds())
			page := ""
			for rank, running := range []int{4, 6, 9} {
				of := fmt.Sprintf("{engine=\"%d\",model_name=\"m\"}", rank)
				page += fmt.Sprintf("vllm:num_requests_running%s %d\nvllm:kv_cache_usage_perc%s 0.%d\nvllm:generation_tokens_total%s %d\n",
					of, running, of, running, of, 10*running*n)
			}
			return 200, page + "vllm:num_preemptions_total 5\n"
		}, vllmIdentity)
		defer stop()
		time.Sleep(1500 * time.Millisecond)
		check(t, "all", source.Latest().Reading.Running, 19)
		check(t, "rank 1 within all", replica(t, source.Latest(), "rank 1").GenerationTokensPerS, 60)
		source.SetReplica("rank 2")
		time.Sleep(2 * time.Second)
		got := source.Latest()
		check(t, "running", got.Reading.Running, 9)
		check(t, "fill", got.Reading.KVFill, 0.9)
		check(t, "rate", got.Reading.GenerationTokensPerS, 90)
		if got.Reading.Preemptions.OK { // of whom they are no label tells
			t.Errorf("preemptions %+v of one rank", got.Reading.Preemptions)
		}
	})
}

// What tells replicas apart, and what they are called.
func TestNamesOfReplicas(t *testing.T) {
	for name, c := range map[string]struct {
		labels []string
		want   []string
		ranks  int
	}{
		"pods before instances":  {[]string{`instance="10.0.0.1:8000",pod="v-10"`, `instance="10.0.0.2:8000",pod="v-9"`}, []string{"v-9", "v-10"}, 1},
		"pods of the same name":  {[]string{`instance="a:1",pod="v-0"`, `instance="b:1",pod="v-0"`}, []string{"a:1", "b:1"}, 1},
		"ranks within instances": {[]string{`instance="a:1",engine="0"`, `instance="a:1",engine="1"`, `instance="b:1",engine="0"`, `instance="b:1",engine="1"`}, []string{"a:1", "b:1"}, 2},
		"ranks of one instance":  {[]string{`instance="a:1",engine="0"`, `instance="a:1",engine="1"`}, []string{"rank 0", "rank 1"}, 1},
		"SGLang's ranks":         {[]string{`dp_rank="0"`, `dp_rank="1"`, `dp_rank="10"`}, []string{"rank 0", "rank 1", "rank 10"}, 1},
		"Ray, two on one node": {[]string{`NodeAddress="n1",ReplicaId="x"`, `NodeAddress="n1",ReplicaId="y"`, `NodeAddress="n2",ReplicaId="z"`},
			[]string{"x", "y", "z"}, 1},
		"no single label": {[]string{`instance="a:1",server="s"`, `instance="a:1",server="t"`, `instance="b:1",server="s"`}, []string{"a:1/s", "a:1/t", "b:1/s"}, 1},
		"one instance":    {[]string{`instance="a:1",engine="0"`}, []string{"a:1"}, 1},
		"nothing":         {[]string{`model_name="m"`}, nil, 0},
	} {
		var page strings.Builder
		for i, l := range c.labels {
			fmt.Fprintf(&page, "vllm:num_requests_running{%s} %d\n", l, i)
		}
		shot, err := read(pageOf(t, page.String()), []*kinds.Kind{&kinds.VLLM}, "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		got := shot.replicas()
		if !slices.Equal(namesOfAll(got), c.want) || len(got) > 0 && got[0].Ranks != c.ranks {
			t.Errorf("%s: %+v, want %q of %d ranks", name, got, c.want, c.ranks)
		}
	}
}

// Whatever the labels, the parts add up to the whole, and read alone each says of
// itself what the list says.
func TestPartsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for range 200 {
		series := map[string]float64{}
		for range 1 + random.IntN(12) {
			series[fmt.Sprintf(`instance="h:%d",pod="p%d",engine="%d"`, random.IntN(5), random.IntN(3), random.IntN(3))] = float64(random.IntN(100))
		}
		text, sum := "", 0.0
		for _, l := range slices.Sorted(maps.Keys(series)) {
			text += fmt.Sprintf("vllm:num_requests_running{%s} %g\n", l, series[l])
			sum += series[l]
		}
		page := pageOf(t, text)
		all, err := read(page, []*kinds.Kind{&kinds.VLLM}, "", time.Now())
		if err != nil || all.Running.Or(-1) != sum {
			t.Fatal(all.Running, sum, err)
		}
		parts := 0.0
		for _, r := range all.replicas() {
			parts += r.Running.V
			one, err := newFactBook().read(page, []*kinds.Kind{&kinds.VLLM}, subject{replica: r.Name}, time.Now())
			if err != nil || one.Running != r.Running || one.Replica != r.Name || len(one.parts) != len(all.parts) {
				t.Fatalf("%s alone: %v, in the list %v; %v\n%s", r.Name, one.Running, r.Running, err, text)
			}
		}
		if parts != sum {
			t.Fatalf("parts %g, whole %g\n%s", parts, sum, text)
		}
	}
}

// pageOf parses a page.
func pageOf(t *testing.T, text string) prom.Page {
	t.Helper()
	page, err := prom.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// With several models nothing can be read before one is chosen: by a key, at once.
func TestModelsOfAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, stop := reading(t, func(*http.Request) (int, string) {
			return 200, scrapedBy(map[string]time.Duration{"h:1": 0, "h:2": 0},
				`vllm:num_requests_running{instance="h:1",model_name="a"} 1`, `vllm:num_requests_running{instance="h:2",model_name="a"} 2`,
				`vllm:num_requests_running{instance="h:2",model_name="b"} 4`)
		}, engine.Identity{Kind: "vllm", Model: "served"})
		defer stop()
		synctest.Wait()
		if got := source.Latest(); got.Have || !slices.Equal(got.OnPage, []string{"a", "b"}) {
			t.Fatalf("%+v", got)
		}
		source.SetModel("a")
		synctest.Wait()
		check(t, "a", source.Latest().Reading.Running, 3)
		source.SetModel("b")
		synctest.Wait()
		got := source.Latest()
		check(t, "b", got.Reading.Running, 4)
		if got.Identity.Model != "served" || got.Reading.Model != "b" || got.Why != "" || len(got.Replicas) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// One server that two jobs scrape has its load once.
func TestAServerThatIsScrapedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, stop := reading(t, func(*http.Request) (int, string) {
			once := scrapedBy(map[string]time.Duration{"h:1": 0, "h:2": 0}, `vllm:num_requests_running{instance="h:1"} 3`, `vllm:num_requests_running{instance="h:2"} 4`)
			other := strings.ReplaceAll(scrapedBy(map[string]time.Duration{"h:1": 0}, `vllm:num_requests_running{instance="h:1"} 3`), `"job":"vllm"`, `"job":"pods"`)
			series, _, _ := strings.Cut(strings.SplitN(other, "[", 2)[1], "]}}")
			return 200, strings.Replace(once, `"result":[`, `"result":[`+series+",", 1)
		}, vllmIdentity)
		defer stop()
		synctest.Wait()
		r := source.Latest().Reading
		check(t, "running", r.Running, 7)
		want := "h:1 is scraped 2 times (job pods, vllm): counted once"
		if !slices.Equal(r.Notes, []string{want}) {
			t.Errorf("notes %q", r.Notes)
		}
	})
}
