package serve

import (
	"strings"
	"testing"

	"sonde/probe/sim/core"
	"sonde/probe/sim/faults"
)

// The faults of a running engine: PUT replaces all, POST changes some, DELETE heals.
func TestFaultsAreSwitchedWhileItRuns(t *testing.T) {
	base := serve(t, fast)
	chat := func() int { return post(t, base+"/v1/chat/completions", someTokens).StatusCode }
	change := func(method, list, want string) {
		t.Helper()
		r := call(t, method, base+"/sim/faults", list)
		if v := decoded(t, r); r.StatusCode != 200 || v["faults"] != want {
			t.Errorf("%s %q: %d, %v, want %q", method, list, r.StatusCode, v["faults"], want)
		}
	}
	change("GET", "", "")
	change("PUT", "429=1/7s,clump=4", "429=1/7s,clump=4")
	if r := post(t, base+"/v1/chat/completions", someTokens); r.StatusCode != 429 || r.Header.Get("Retry-After") != "7" {
		t.Errorf("status %d, Retry-After %q", r.StatusCode, r.Header.Get("Retry-After"))
	}
	change("POST", "429=off", "clump=4")
	if got := chat(); got != 200 {
		t.Errorf("status %d without refusals", got)
	}
	change("PUT", "503=1", "503=1")
	if got := chat(); got != 503 {
		t.Errorf("status %d, want 503", got)
	}
	change("DELETE", "", "")
	if got := chat(); got != 200 {
		t.Errorf("status %d when healed", got)
	}
	known := decoded(t, call(t, "GET", base+"/sim/faults", ""))["known"].([]any)
	if len(known) != len(faults.Kinds) {
		t.Errorf("%d faults are explained, want %d", len(known), len(faults.Kinds))
	}
}

func TestAdminRefusesWhatItDoesNotKnow(t *testing.T) {
	base := serve(t, fast)
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"PUT", "/sim/faults", "flood=1", 400, "unknown fault"},
		{"POST", "/sim/faults", "429=0.7,503=0.7", 400, "more than all requests"},
		{"PATCH", "/sim/faults", "", 405, "DELETE to end"},
		{"PUT", "/sim/scenario", "tsunami", 400, "unknown scenario"},
		{"PUT", "/sim/scenario", "", 400, "overload"},
		{"PATCH", "/sim/scenario", "", 405, "DELETE to end"},
	} {
		r := call(t, c.method, base+c.path, c.body)
		v := decoded(t, r)
		message, _ := v["error"].(map[string]any)["message"].(string)
		if r.StatusCode != c.status || !strings.Contains(message, c.says) {
			t.Errorf("%s %s %q: %d, %v", c.method, c.path, c.body, r.StatusCode, v)
		}
	}
}

func TestScenarioIsStartedAndEnded(t *testing.T) {
	base := serve(t, fast)
	v := decoded(t, call(t, "PUT", base+"/sim/scenario", "Buffering-Proxy"))
	if v["scenario"] != "buffering-proxy" || v["part"] != "calm before" || v["part_ends_in_s"].(float64) > 20 {
		t.Errorf("%v", v)
	}
	if v := decoded(t, call(t, "PUT", base+"/sim/scenario", "slow-replica")); v["scenario"] != "slow-replica" {
		t.Errorf("%v", v)
	}
	if v := decoded(t, call(t, "DELETE", base+"/sim/scenario", "")); v["scenario"] != nil || v["faults"] != "" {
		t.Errorf("%v", v)
	}
}

// The clump of a stream under way changes with the faults.
func TestClumpsOfStreamsUnderWay(t *testing.T) {
	s := newEngine(t, core.Options{}).timetable
	m := newMailbox(&s.Clump)
	woken := func() bool {
		select {
		case <-m.wake:
			m.take(nil)
			return true
		default:
			return false
		}
	}
	put := func() { m.put([]uint16{7}, core.Unfinished) }
	if put(); !woken() {
		t.Error("no token of a healthy stream")
	}
	if err := s.ChangeFaults("clump=3"); err != nil {
		t.Fatal(err)
	}
	put()
	put()
	if woken() {
		t.Error("two tokens left before three were there")
	}
	if put(); !woken() {
		t.Error("three tokens did not leave together")
	}
	if err := s.SetFaults(faults.Faults{}); err != nil {
		t.Fatal(err)
	}
	if put(); !woken() {
		t.Error("no token after the proxy went away")
	}
}
