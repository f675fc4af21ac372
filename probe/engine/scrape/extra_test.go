package scrape

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
)

// slotsKind is an engine with a page in JSON, for tests.
func slotsKind(t *testing.T, e kinds.Extra, noPage string) engine.Identity {
	t.Helper()
	e.Path = "/slots"
	e.Read = func(b kinds.Body, into kinds.Into) error {
		var slots struct{ Busy, Waiting, Tokens opt.Float }
		if err := json.Unmarshal(b, &slots); err != nil {
			return errors.New("no slots in it")
		}
		into.Set(engine.FieldRunning, slots.Busy, "busy")
		into.Fill(engine.FieldWaiting, slots.Waiting, "waiting")
		into.Count(engine.FieldGenerationTokens, slots.Tokens, "tokens")
		into.Remark(engine.FieldRunning, "slots")
		into.KV([]engine.RankFill{{Rank: "0", Fill: 0.2}, {Rank: "1", Fill: 0.8}}, []float64{100, 300}, "fill")
		return nil
	}
	k := &kinds.Kind{ID: "slots", Name: "Slots", NoPage: noPage, Extra: []kinds.Extra{e}, Table: &kinds.Table{Prefixes: []string{"slots_"}}}
	before := kinds.All
	kinds.All = append(slices.Clone(kinds.All), k)
	t.Cleanup(func() { kinds.All = before })
	return engine.Identity{Kind: "slots", Name: "Slots", MetricsWhy: noPage}
}

// serveSlots answers /slots, and /metrics if there is a page.
func serveSlots(slots func() (int, string), page string) script {
	return func(r *http.Request) (int, string) {
		switch {
		case r.URL.Path == "/slots":
			return slots()
		case page != "":
			return 200, page
		}
		return 404, ""
	}
}

func TestEngineWithoutMetricsPage(t *testing.T) {
	id := slotsKind(t, kinds.Extra{}, "no page")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(serveSlots(func() (int, string) {
			return 200, `{"busy":3,"waiting":1,"tokens":` + strconv.Itoa(int(100*time.Since(begin).Seconds())) + `}`
		}, ""), id)
		defer stop()
		time.Sleep(2500 * time.Millisecond)
		got := source.Latest()
		if !got.Have || got.Why != "" || !slices.Equal(got.Reading.Notes, []string{"no page"}) {
			t.Fatalf("%+v", got)
		}
		r := got.Reading
		check(t, "running", r.Running, 3)
		check(t, "waiting", r.Waiting, 1)
		check(t, "rate", r.GenerationTokensPerS, 100)
		check(t, "fill, weighted: 0.2 × 100 + 0.8 × 300 of 400", r.KVFill, 0.65)
		check(t, "fullest", r.KVFillMax, 0.8)
		want := engine.Origin{Source: "/slots busy", At: begin.Add(2 * time.Second), Remark: "slots"}
		if o, _ := r.Origin("running"); o != want {
			t.Errorf("origin %+v, want %+v", o, want)
		}
	})
}

// What the metrics page says stays; an extra page overrides only where it sets. It
// is not asked more often than it wants, and a figure's age is that of its page.
func TestExtraPageBesideTheMetricsPage(t *testing.T) {
	id := slotsKind(t, kinds.Extra{Every: 5 * time.Second}, "")
	id.MetricsURL = vllmIdentity.MetricsURL
	synctest.Test(t, func(t *testing.T) {
		begin, asked := time.Now(), 0
		source, stop := running(serveSlots(func() (int, string) {
			asked++
			return 200, `{"busy":3,"waiting":1}`
		}, "vllm:num_requests_running 7\nvllm:num_requests_waiting 2\n"), id)
		defer stop()
		time.Sleep(4500 * time.Millisecond)
		r := source.Latest().Reading
		check(t, "running, set", r.Running, 3)
		check(t, "waiting, filled", r.Waiting, 2)
		if asked != 1 || !r.At.Equal(begin.Add(4*time.Second)) || !r.Origins[engine.FieldRunning].At.Equal(begin) {
			t.Errorf("asked %d times; reading of %v, running of %v", asked, r.At, r.Origins[engine.FieldRunning].At)
		}
	})
}

// A page that fails takes only its own figures with it, is no restart, says why,
// and is asked again after a while.
func TestExtraPageThatFails(t *testing.T) {
	id := slotsKind(t, kinds.Extra{Missing: "start it with --slots"}, "")
	id.MetricsURL = vllmIdentity.MetricsURL
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(serveSlots(func() (int, string) {
			switch at := time.Since(begin); {
			case at < 1500*time.Millisecond || at > 30*time.Second:
				return 200, `{"busy":3,"tokens":5}`
			default:
				return 501, "off"
			}
		}, "vllm:num_requests_waiting 2\n"), id)
		defer stop()
		time.Sleep(2500 * time.Millisecond)
		got := source.Latest()
		if !got.Have || got.Why != "" || got.Reading.Restarted || got.Reading.Running.OK || !got.Reading.Waiting.OK {
			t.Errorf("%+v", got)
		}
		if want := []string{"501 at http://engine:8000/slots: start it with --slots"}; !slices.Equal(got.Reading.Notes, want) {
			t.Errorf("notes %q, want %q", got.Reading.Notes, want)
		}
		time.Sleep(30 * time.Second)
		check(t, "running again", source.Latest().Reading.Running, 3)
	})
}

func TestExtraPageThatCannotBeRead(t *testing.T) {
	id := slotsKind(t, kinds.Extra{}, "no page")
	synctest.Test(t, func(t *testing.T) {
		source, stop := running(serveSlots(func() (int, string) { return 200, "<html>" }, ""), id)
		defer stop()
		synctest.Wait()
		if got := source.Latest(); got.Have || got.Why != "no page; /slots: no slots in it" {
			t.Errorf("%+v", got)
		}
	})
}

// A page that stands in for the metrics page is not asked while that is there.
func TestExtraPageInstead(t *testing.T) {
	id := slotsKind(t, kinds.Extra{Instead: true}, "")
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		source, stop := running(func(r *http.Request) (int, string) {
			late := time.Since(begin) > 20*time.Second
			switch {
			case r.URL.Path == "/slots":
				if time.Since(begin) > 30500*time.Millisecond {
					t.Error("asked for the page in JSON although there is a metrics page")
				}
				return 200, `{"busy":3}`
			case strings.HasPrefix(r.URL.Path, "/metrics") && late:
				return 200, "vllm:num_requests_running 7\n"
			}
			return 404, ""
		}, id)
		defer stop()
		time.Sleep(19500 * time.Millisecond)
		check(t, "by JSON", source.Latest().Reading.Running, 3)
		time.Sleep(12 * time.Second) // the page is looked for every 30 s
		check(t, "by the page", source.Latest().Reading.Running, 7)
	})
}
