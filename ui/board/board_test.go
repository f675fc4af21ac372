package board

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"sonde/probe/canary"
	"sonde/probe/diagnose"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/ui/theme"
)

// The golden screens are what people see, held in testdata. After a change that is meant,
// `go test ./ui/board -update` writes them anew; read the difference before it is kept.
var update = flag.Bool("update", false, "write the golden screens anew")

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func summaryOf(n int, p50 float64) *measure.Summary {
	return &measure.Summary{N: n, P50: p50, P95: 1.2 * p50, Max: 2 * p50}
}

// row is a target that is well: TTFT about 200 ms, TPOT 14 ms.
func row(name, model string, ttft float64) canary.Row {
	r := canary.Row{
		Target: canary.Target{Name: name, Endpoint: "http://" + name, Every: 10 * time.Second, Input: 16, Output: 16},
		Model:  model, State: canary.OK, Since: now.Add(-2 * time.Hour), Every: 10 * time.Second,
		Verdict:     diagnose.Verdict{Rule: diagnose.RuleHealthy, Severity: diagnose.Healthy, Text: "healthy: TTFT p50 212 ms, TPOT p50 14.0 ms", Evidence: []string{"360 probes in the last hour, 0 of them failed"}},
		LastEnded:   now.Add(-3 * time.Second),
		LastSuccess: now.Add(-3 * time.Second), Next: now.Add(7 * time.Second),
		TTFT: opt.Of(ttft), TPOT: opt.Of(14), E2E: opt.Of(ttft + 15*14), Setup: opt.Of(3.2),
		Hour:   measure.Latencies[*measure.Summary]{TTFT: summaryOf(360, 212), TPOT: summaryOf(360, 14), E2E: summaryOf(360, 422)},
		Probes: 360, Spent: 12_960,
	}
	r.Last = measure.Request{InTokens: 20, OutTokens: 16}
	for i := range 40 {
		r.Recent = append(r.Recent, opt.Of(ttft+float64(i*37%11)*6))
	}
	return r
}

func fleet() []canary.Row {
	slow := row("@lab", "qwen-32b", 812)
	slow.State, slow.Since = canary.Slow, now.Add(-3*time.Minute)
	slow.Verdict = diagnose.Verdict{Rule: canary.RuleSlow, Severity: diagnose.Warn, Text: "TTFT 812 ms, usually 212 ms",
		Evidence: []string{"median of the last 5 probes", "usual: p50 212 ms, p95 260 ms, n 120, in the last hour"}, Advice: "look at the engine's queue, KV cache and GPU: sonde URL --watch"}
	for i := range 34 {
		slow.Recent[i] = opt.Of(200)
	}
	down := row("gpu-3.cluster.example.org:8000", "meta-llama/Llama-3.1-8B-Instruct", 212)
	down.State, down.Since, down.Failed, down.Classes = canary.Down, now.Add(-45*time.Second), 7, map[measure.Class]int{measure.Connect: 5, measure.HTTP5xx: 2}
	down.Last = measure.Request{Class: measure.Connect, Error: "connection refused by \x1b[31mgpu-3:8000"}
	down.Target.Budget = 20_000
	down.Verdict = diagnose.Verdict{Rule: diagnose.RuleAllFail, Severity: diagnose.Bad, Text: "every probe in the last 45 s has failed: connect: connection refused by \x1b[31mgpu-3:8000",
		Evidence: []string{"5 failures in a row"}, Advice: "check the address and that the server is running"}
	for i := range 5 {
		down.Recent[35+i] = opt.Float{}
	}
	fresh := canary.Row{Target: canary.Target{Name: "new:8000", Endpoint: "http://new:8000", Every: 10 * time.Second}, Since: now.Add(-2 * time.Second), Began: now.Add(-2 * time.Second),
		Every: 10 * time.Second, Verdict: diagnose.Verdict{Rule: diagnose.RuleNoData, Text: "no probe has ended yet"}}
	rows := []canary.Row{row("gpu-1:8000", "llama-8b", 205), slow, row("gpu-2:8000", "llama-8b", 219), down, fresh}
	return rows
}

func screen(rows []canary.Row, w, h int, keys string) *model {
	m := newModel(Options{Rows: func() []canary.Row { return rows }, PerDay: 1_382_400, Serves: "http://127.0.0.1:9898/metrics"}, theme.New(colorprofile.ANSI256, false))
	m.began = now.Add(-90 * time.Minute)
	m.pull(now)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	codes := map[string]tea.KeyPressMsg{"enter": {Code: tea.KeyEnter}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp}, "esc": {Code: tea.KeyEscape}, "end": {Code: tea.KeyEnd}}
	for name := range strings.FieldsSeq(keys) {
		key, named := codes[name]
		if !named {
			key = tea.KeyPressMsg{Code: rune(name[0]), Text: name}
		}
		m.Update(key)
	}
	return m
}

func many() []canary.Row {
	var rows []canary.Row
	for i := range 40 {
		rows = append(rows, row(fmt.Sprintf("gpu-%d:8000", i), "llama-8b", 200))
	}
	return rows
}

func TestGoldenScreens(t *testing.T) {
	for name, scene := range map[string]struct {
		rows  []canary.Row
		shots []string
	}{
		"rows":    {fleet(), []string{"", "down", "end"}},
		"details": {fleet(), []string{"enter", "down enter", "down down enter"}},
		"help":    {fleet(), []string{"?"}},
		"many":    {many(), []string{"", "end"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			for _, keys := range scene.shots {
				for _, size := range [][2]int{{80, 24}, {120, 40}} {
					m := screen(scene.rows, size[0], size[1], keys)
					picture := ansi.Strip(m.content)
					lines := strings.Split(picture, "\n")
					if len(lines) != size[1] {
						t.Errorf("%v %q: %d lines", size, keys, len(lines))
					}
					for i, line := range lines {
						if ansi.StringWidth(line) != size[0] {
							t.Errorf("%v %q: line %d has %d cells: %q", size, keys, i, ansi.StringWidth(line), line)
						}
						lines[i] = strings.TrimRight(line, " ")
					}
					if strings.Contains(picture, "\x1b") {
						t.Error("an escape code of the server's")
					}
					fmt.Fprintf(&out, "── %d×%d %s\n%s\n", size[0], size[1], keys, strings.Join(lines, "\n"))
				}
			}
			golden(t, name, out.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name + ".txt"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./ui/board -update, and read the difference):\n%s", path, got)
	}
}

// The choice stays with its target when the order changes.
func TestChoiceFollowsItsTarget(t *testing.T) {
	rows := []canary.Row{row("a", "m", 200), row("b", "m", 200), row("c", "m", 200)}
	m := screen(rows, 80, 24, "down")
	rows[2].State = canary.Down
	m.pull(now)
	if got := m.rows[m.at()].Target.Name; got != "b" || m.rows[0].Target.Name != "c" {
		t.Errorf("chosen %s, first %s", got, m.rows[0].Target.Name)
	}
}

func TestKeys(t *testing.T) {
	for keys, want := range map[string]view{"": viewRows, "enter": viewDetails, "enter enter": viewRows, "enter esc": viewRows, "?": viewHelp, "? ?": viewRows, "esc": viewRows} {
		if got := screen(fleet(), 80, 24, keys).view; got != want {
			t.Errorf("%q: view %d, want %d", keys, got, want)
		}
	}
	m := screen(fleet(), 80, 24, "")
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd == nil || cmd() != tea.Quit() {
		t.Error("q does not quit")
	}
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'й', Text: "й"}); cmd == nil || cmd() != tea.Quit() {
		t.Error("the key of q on a Russian keyboard does not quit")
	}
}

func TestNextProbe(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		7 * time.Second: "in 7 s, one every 10 s", 400 * time.Millisecond: "one every 10 s", -time.Second: "one every 10 s",
	} {
		r := row("a", "m", 200)
		r.Next = now.Add(wait)
		if got := screen([]canary.Row{r}, 80, 24, "").next(&r); got != want {
			t.Errorf("due in %s: %q, want %q", wait, got, want)
		}
	}
}

func TestSmallAndEmpty(t *testing.T) {
	if m := screen(fleet(), 59, 16, ""); !strings.Contains(ansi.Strip(m.content), "too small: need 60×16, have 59×16; the probes go on") {
		t.Errorf("%q", m.content)
	}
	for _, keys := range []string{"", "enter", "end enter", "up"} {
		screen(nil, 60, 16, keys) // must not panic
	}
}
