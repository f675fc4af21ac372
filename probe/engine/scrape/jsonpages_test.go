package scrape

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
)

// jsonFixture is how a file in JSON is read: as an extra page of an engine, or as
// the answer in place of a metrics page.
type jsonFixture struct {
	kind  *kinds.Kind
	path  string // of the extra page; "" = the file is a refused metrics page
	model string
}

// jsonFixtures are all recorded pages in JSON.
var jsonFixtures = map[string]*jsonFixture{
	"llamacpp-b10573-slots.json.txt":       {kind: kinds.ByID("llama.cpp"), path: "/slots"},
	"llamacpp-b6500-slots.json.txt":        {kind: kinds.ByID("llama.cpp"), path: "/slots"},
	"llamacpp-metrics-disabled.json.txt":   {kind: kinds.ByID("llama.cpp")},
	"lmstudio-0.3-api-v0-models.json.txt":  {kind: kinds.ByID("lmstudio"), path: "/api/v0/models", model: "qwen2.5-7b-instruct"},
	"ollama-ps.json.txt":                   {kind: &kinds.Ollama, path: "/api/ps", model: "llama3.2:3b"},
	"sglang-0.5.18-loads.json.txt":         {kind: kinds.ByID("sglang"), path: "/v1/loads"},
	"trtllm-serve-iterstats-idle.json.txt": {kind: &kinds.TRTLLM, path: "/metrics"},
	"trtllm-serve-iterstats.json.txt":      {kind: &kinds.TRTLLM, path: "/metrics"},
}

// Keys of expected.json that only pages in JSON have.
var jsonKeys = map[string]func(engine.Reading) opt.Float{
	"slots":               func(r engine.Reading) opt.Float { return r.MaxRunning },
	"kv_used_tokens_busy": func(r engine.Reading) opt.Float { return r.KVUsedTokens },
	"gpu_share":           func(r engine.Reading) opt.Float { return r.GPUShare },
	"models_loaded":       func(r engine.Reading) opt.Float { return r.ModelsLoaded },
	"prefix_hit_rate":     func(r engine.Reading) opt.Float { return r.PrefixHitRate },
}

// notRead are keys that are words, or that a reading leaves out: idle slots keep
// tokens that hold nobody up.
var notRead = []string{"endpoint", "engine", "note", "kv_used_tokens_all", "model"}

func TestPagesInJSON(t *testing.T) {
	var all map[string]map[string]any
	if err := json.Unmarshal([]byte(fixture(t, "expected.json")), &all); err != nil {
		t.Fatal(err)
	}
	for file, page := range jsonFixtures {
		want := all[file]
		t.Run(file, func(t *testing.T) {
			if want == nil {
				t.Fatal("expected.json says nothing of it")
			}
			if page.path == "" {
				checkRefusedPage(t, file, page, want)
				return
			}
			got := fillFrom(t, page, fixture(t, file))
			for key, v := range want {
				checkJSONKey(t, got.Reading, key, v)
			}
			for _, key := range unlessStated {
				if _, stated := want[key]; !stated && !strings.HasPrefix(key, "prefix") {
					checkJSONKey(t, got.Reading, key, nil)
				}
			}
			for f, o := range got.Origins {
				if !got.Known(f) || !strings.HasPrefix(o.Source, page.path+" ") {
					t.Errorf("%s comes from %q", f, o.Source)
				}
				if !slices.Contains(kinds.Offers(page.kind.ID), f) {
					t.Errorf("%s is read and not offered", f)
				}
			}
		})
	}
}

// fillFrom reads a page as a source would.
func fillFrom(t *testing.T, page *jsonFixture, body string) snapshot {
	t.Helper()
	for _, e := range page.kind.Extra {
		if e.Path != page.path {
			continue
		}
		shot := newSnapshot(page.model)
		state := extraState{Extra: e, last: answer{url: "http://engine" + e.Path, status: 200, body: []byte(body), at: time.Unix(1700000000, 0)}}
		if wrong := state.fill(&shot); wrong != "" {
			t.Fatal(wrong)
		}
		return shot
	}
	t.Fatalf("%s has no page %s", page.kind.ID, page.path)
	return snapshot{}
}

func checkJSONKey(t *testing.T, got engine.Reading, key string, want any) {
	t.Helper()
	of := jsonKeys[key]
	if of == nil {
		of = figureKeys[key]
	}
	if of == nil {
		if !slices.Contains(notRead, key) {
			t.Errorf("%s: no test reads this key", key)
		}
		return
	}
	number, known := want.(float64)
	if v := of(got); v.OK != known || !near(v.V, number) {
		t.Errorf("%s = %v, want %v", key, v, want)
	}
}

// checkRefusedPage reads a file as the body of a metrics page that is not there.
func checkRefusedPage(t *testing.T, file string, page *jsonFixture, want map[string]any) {
	t.Helper()
	a := answer{url: "http://engine" + want["endpoint"].(string), status: int(want["http_status"].(float64)), body: []byte(fixture(t, file))}
	says := want["says"].(string)
	if got := newFetcher(Config{}).pageRefusal(a, page.kind); !strings.Contains(got, strings.TrimPrefix(says, "start ")) {
		t.Errorf("%q does not say %q", got, says)
	}
}

func TestLoadingPage(t *testing.T) {
	loading := answer{url: "http://engine/metrics", status: 503, body: []byte(fixture(t, "probe-llamacpp-loading.json.txt"))}
	if got := newFetcher(Config{}).pageRefusal(loading, kinds.ByID("llama.cpp")); !strings.Contains(got, "still loading") || strings.Contains(got, "--metrics") {
		t.Errorf("%q", got)
	}
	loading.body = []byte("busy")
	if got := newFetcher(Config{}).pageRefusal(loading, kinds.ByID("llama.cpp")); strings.Contains(got, "model is still loading") {
		t.Errorf("%q", got)
	}
}

// 2 busy slots of 3: 100 + 50 of 3 × 200 tokens; the idle one's 120 are cache.
func TestSlots(t *testing.T) {
	slots := &jsonFixture{kind: kinds.ByID("llama.cpp"), path: "/slots"}
	got := fillFrom(t, slots, `[{"n_ctx":200,"is_processing":true,"n_prompt_tokens":100},
		{"n_ctx":200,"is_processing":true,"n_prompt_tokens":50},{"n_ctx":200,"is_processing":false,"n_prompt_tokens":120}]`)
	check(t, "fill", got.KVFill, 0.25)
	check(t, "used", got.KVUsedTokens, 150)
	check(t, "capacity", got.KVCapacityTokens, 600)
	check(t, "running", got.Running, 2)
	idle := fillFrom(t, slots, `[{"n_ctx":200,"is_processing":false,"n_prompt_tokens":120}]`)
	check(t, "fill of idle slots", idle.KVFill, 0)
	old := fillFrom(t, slots, fixture(t, "llamacpp-b6500-slots.json.txt"))
	if old.KVFill.OK || len(old.Notes) != 1 || !strings.Contains(old.Notes[0], "update llama-server") {
		t.Errorf("fill %v, notes %q: want unknown and the way out", old.KVFill, old.Notes)
	}
}

// Without /slots the sizes are in /props: 4 × 8192.
func TestPropsStandInForSlots(t *testing.T) {
	got := fillFrom(t, &jsonFixture{kind: kinds.ByID("llama.cpp"), path: "/props"}, fixture(t, "probe-llamacpp-props.json.txt"))
	check(t, "capacity", got.KVCapacityTokens, 32768)
	check(t, "slots", got.MaxRunning, 4)
	check(t, "context", got.MaxModelLen, 8192)
}

// Two ranks: sums of requests, the fullest rank beside the mean weighed by capacity,
// (100 × 0.9 + 300 × 0.1) / 400 = 0.3; requests in the grammar queue wait too.
func TestLoadsOfTwoRanks(t *testing.T) {
	got := fillFrom(t, &jsonFixture{kind: kinds.ByID("sglang"), path: "/v1/loads"}, `{"loads":[
		{"dp_rank":0,"num_running_reqs":5,"num_waiting_reqs":2,"token_usage":0.9,"max_total_num_tokens":100,"queues":{"grammar":1,"paused":1,"retracted":2}},
		{"dp_rank":1,"num_running_reqs":1,"num_waiting_reqs":0,"token_usage":0.1,"max_total_num_tokens":300}]}`)
	check(t, "running", got.Running, 6)
	check(t, "waiting", got.Waiting, 3)
	check(t, "paused", got.Paused, 3)
	check(t, "fill", got.KVFill, 0.3)
	check(t, "fullest", got.KVFillMax, 0.9)
	if got.Ranks != 2 || len(got.KVByRank) != 2 || got.KVByRank[1].Rank != "1" {
		t.Errorf("ranks %d: %v", got.Ranks, got.KVByRank)
	}
}

// Between two readings 30 blocks were reused and 10 were not: 30 of 40.
func TestIterationsCountBlocks(t *testing.T) {
	page := &jsonFixture{kind: &kinds.TRTLLM, path: "/metrics"}
	of := func(reused, missed string) snapshot {
		return fillFrom(t, page, `[{"iter":1,"iterLatencyMS":7,"kvCacheStats":{"reusedBlocks":`+reused+`,"missedBlocks":`+missed+`}}]`)
	}
	before, after := of("100", "50"), of("130", "60")
	after.At = before.At.Add(time.Second)
	after.since(&before)
	check(t, "hit rate", after.PrefixHitRate, 0.75)
	if after.PrefixUnit != "blocks" {
		t.Errorf("unit %q", after.PrefixUnit)
	}
	idle := fillFrom(t, page, "[]")
	if len(idle.Origins) != 0 || len(idle.Notes) != 1 {
		t.Errorf("an empty list says %v, %q: want nothing, and a note", idle.Origins, idle.Notes)
	}
}

func TestOllamaModels(t *testing.T) {
	page := &jsonFixture{kind: &kinds.Ollama, path: "/api/ps", model: "tiny"}
	half := fillFrom(t, page, `{"models":[{"name":"other:1b","size":1,"size_vram":0},{"name":"tiny:latest","size":4000000000,"size_vram":1000000000}]}`)
	check(t, "share", half.GPUShare, 0.25)
	check(t, "loaded", half.ModelsLoaded, 2)
	if half.MaxModelLen.OK {
		t.Errorf("context %v: versions before 0.9 tell none", half.MaxModelLen)
	}
	for body, part := range map[string]string{
		`{"models":[]}`: "tiny is not loaded: the first request loads it",
		`{"models":[{"name":"tiny:latest","size":4000000000,"size_vram":1000000000}]}`: "4 GB, 25 % of it in GPU memory",
		`{"models":[{"name":"tiny:latest","size":21000000,"size_vram":0}]}`:            "0.021 GB, none of it in GPU memory: it runs on the CPU",
	} {
		if notes := strings.Join(fillFrom(t, page, body).Notes, "\n"); !strings.Contains(notes, part) || !strings.Contains(notes, "OLLAMA_NUM_PARALLEL") {
			t.Errorf("%s: notes %q, want %q", body, notes, part)
		}
	}
}

// An engine without a metrics page is read all the same, and says what is missing.
func TestEngineWithoutAMetricsPage(t *testing.T) {
	server := serve(t, map[string]reply{"/api/ps": file("ollama-ps.json.txt")})
	source := NewSource(Config{Base: server.URL}, engine.Identity{Kind: "ollama", Model: "llama3.2:3b", MetricsWhy: kinds.Ollama.NoPage})
	for range 3 {
		if !source.scrape(t.Context()) {
			t.Fatal(source.Latest().Why)
		}
	}
	got := source.Latest()
	if !got.Have || got.Why != "" || got.Reading.Running.OK || got.Reading.KVFill.OK {
		t.Errorf("status = %+v", got)
	}
	if got.Identity.MaxModelLen != 4096 {
		t.Errorf("context of the identity = %d, want what is loaded", got.Identity.MaxModelLen)
	}
	if notes := strings.Join(got.Reading.Notes, "\n"); !strings.Contains(notes, "no metrics page") {
		t.Errorf("notes %q", notes)
	}
	if asked := server.requests(); len(asked) != 1 {
		t.Errorf("three scrapes at once asked %q: want one look in five seconds", asked)
	}
}

// LM Studio logs an error for each path that it does not know: one is enough.
func TestLMStudioIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			asked++
			body := io.NopCloser(strings.NewReader(fixture(t, "probe-lmstudio-unknown-path.json.txt")))
			return &http.Response{StatusCode: http.StatusOK, Body: body, Header: http.Header{}, Request: r}, nil
		})}
		source := NewSource(Config{Base: "http://studio", Client: client}, engine.Identity{Kind: "lmstudio", MetricsWhy: kinds.ByID("lmstudio").NoPage})
		for range 100 {
			source.scrape(t.Context())
			time.Sleep(time.Second)
		}
		if why := source.Latest().Why; asked != 1 || !strings.Contains(why, "0.3.6") {
			t.Errorf("asked %d times, why %q", asked, why)
		}
	})
}

// TensorRT-LLM's queue is read only while there is no Prometheus page.
func TestIterationsOnlyWithoutAPage(t *testing.T) {
	server := serve(t, map[string]reply{"/metrics": file("trtllm-serve-iterstats.json.txt"), "/prometheus/metrics": file("trtllm-serve-1.3-prometheus.txt")})
	id := engine.Identity{Kind: "tensorrt_llm", MetricsURL: server.URL + "/prometheus/metrics"}
	source := NewSource(Config{Base: server.URL}, id)
	if !source.scrape(t.Context()) || len(server.requests()) != 1 {
		t.Errorf("%q, asked %q", source.Latest().Why, server.requests())
	}
	without := NewSource(Config{Base: server.URL}, engine.Identity{Kind: "tensorrt_llm", MetricsWhy: "404"})
	if !without.scrape(t.Context()) {
		t.Fatal(without.Latest().Why)
	}
	check(t, "running", without.Latest().Reading.Running, 16)
}

// Whatever a page in JSON holds, reading it ends, and every figure is finite.
func FuzzPagesInJSON(f *testing.F) {
	for _, seed := range []string{`[]`, `{}`, `null`, `[{}]`, `{"loads":[{}]}`, `{"models":[{"size":1e308,"size_vram":1e308}]}`,
		`[{"kvCacheStats":{"usedNumBlocks":1,"maxNumBlocks":0}}]`, `[{"n_ctx":1e308,"is_processing":true,"n_prompt_tokens":1e308},{"n_ctx":1e308}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, k := range kinds.All {
			for _, e := range k.Extra {
				shot := newSnapshot("m")
				_ = e.Read(body, kinds.Into{Reading: &shot.Reading, Wanted: shot.model, Page: e.Path, Series: map[engine.Field]map[string]float64{}})
				for field := range shot.Origins {
					if v := shot.Figure(field); v != nil && v.OK && !finite(v.V) {
						t.Errorf("%s %s: %v", k.ID, field, v.V)
					}
				}
				if v := shot.KVFill; v.OK && !(v.V >= 0 && v.V <= 1) {
					t.Errorf("%s: fill %v", k.ID, v.V)
				}
			}
		}
	})
}
