package ui

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"sonde/gpu"
	"sonde/probe/diagnose"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/level"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/roofline"
	"sonde/probe/slo"
	"sonde/probe/sweep"
	"sonde/ui/theme"
)

// The golden screens are what people see, held in testdata. After a change that is
// meant, `go test ./ui -update` writes them anew; read the difference before it is kept.
var update = flag.Bool("update", false, "write the golden screens anew")

// shot is one picture: the keys that lead to it, separated by blanks, and the
// screen's size.
type shot struct {
	keys string
	w, h int
}

// both is the same picture at the two sizes that the layout is made for.
func both(keys string) []shot { return []shot{{keys, 80, 24}, {keys, 120, 40}} }

// scenes are the pictures of each file. Each shot is of a model of its own.
var scenes = map[string]struct {
	model func(w, h int) *model
	shots []shot
}{
	"main":       {busy, both("")},
	"zoom":       {busy, slices.Concat(both("1 z"), both("2 z"), both("3 z"), both("4 z"), both("5 z"), both("6 z"), both("7 z"), both("8 z"))},
	"cursor":     {busy, slices.Concat(both("c left left left"), both("( 4 z"))},
	"explain":    {busy, slices.Concat(both("1 i"), both("2 i"), both("3 i"), both("4 i"), both("5 i"), both("6 i"), both("7 i"), both("8 i"))},
	"help":       {busy, append(both("?"), shot{"? pgdown", 80, 24}, shot{"? pgdown pgdown", 80, 24}, shot{"? pgdown pgdown pgdown", 80, 24}, shot{"? pgdown", 120, 40})},
	"verdicts":   {busy, both("v")},
	"levels":     {swept, append(both("t"), shot{"t right right right right right right right right", 80, 24}, shot{"t pgdown", 80, 24})},
	"curve":      {swept, both("1 z")},
	"nolevels":   {func(w, h int) *model { m, _ := withLevels(nil, w, h); return m }, both("")},
	"sweeping":   {sweeping, both("")},
	"replay":     {replaying(""), append(both(""), both("space")...)},
	"replayend":  {replaying("end"), both("")},
	"fleet":      {fleet, slices.Concat(both(""), both("n"), both("7 z"), both("6 z"))},
	"gpus":       {sixteen, append(both(""), both("6 z")...)},
	"troubles":   {troubled, slices.Concat(both(""), both("1 z"), both("6 i"), both("7 i"))},
	"outage":     {outage, both("")},
	"watching":   {watching, append(both(""), shot{"s", 80, 24}, shot{"?", 80, 24})},
	"stale":      {stale, both("")},
	"noframe":    {func(w, h int) *model { return sized(newModel(Options{Frames: newFake(0)}, newTestTheme()), w, h) }, both("")},
	"connecting": {connecting, both("")},
	"rehearsal":  {rehearsed, slices.Concat(both("d"), both("?"))},
	"notices":    {busy, append(both("l"), shot{"0", 80, 24}, shot{"z +", 80, 24}, shot{"d", 80, 24}, shot{"n", 80, 24}, shot{"m", 80, 24}, shot{"<", 80, 24}, shot{"space", 80, 24})},
	"small":      {busy, []shot{{"", 60, 16}, {"", 59, 16}, {"", 20, 5}}},
	"ascii":      {ascii, both("")},
	"against":    {against(newTestTheme()), slices.Concat(both(""), both("C"), both("t"), both("1 z"), both("4 z"), both("2 z"))},
	"againstasc": {against(theme.New(0, true)), both("")},
	"unlike":     {unlike, both("")},
}

func TestGoldenScreens(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for _, s := range scene.shots {
				m := scene.model(s.w, s.h)
				pressNames(m, s.keys)
				fmt.Fprintf(&text, "── %d×%d %s\n%s\n", s.w, s.h, s.keys, asSeen(m, s.w, s.h))
			}
			golden(t, name, text.String())
		})
	}
}

// The styles of the main picture: a letter a cell for its colour, a capital where it
// is bold, and d where it is faint.
func TestGoldenStyles(t *testing.T) {
	for _, name := range []string{"colour", "nocolour"} {
		t.Run(name, func(t *testing.T) {
			m := busy(120, 40)
			if name == "nocolour" {
				m = withoutColour(120, 40)
			}
			golden(t, name, styles(m, 120, 40))
		})
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
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
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s:%d\n got  %s\n want %s\n(-update writes it anew)", path, i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d lines, want %d", path, len(a), len(b))
	}
}

// emulated is what a terminal makes of the picture.
func emulated(m *model, w, h int) *vt.Emulator {
	e := vt.NewEmulator(w, h)
	_, _ = e.WriteString(strings.ReplaceAll(m.View().Content, "\n", "\r\n"))
	return e
}

func asSeen(m *model, w, h int) string {
	e := emulated(m, w, h)
	lines := make([]string, h)
	for y := range h {
		for x := range w {
			if c := e.CellAt(x, y); c != nil && c.Content != "" {
				lines[y] += c.Content
			} else {
				lines[y] += " "
			}
		}
		lines[y] = strings.TrimRight(lines[y], " ")
	}
	return strings.Join(lines, "\n")
}

// letters stand for the colours of the palette.
var letters = map[ansi.IndexedColor]rune{243: 'g', 63: 'b', 130: 'o', 163: 'p', 29: 'n', 136: 'y', 160: 'r', 67: 'l', 128: 'm'}

func styles(m *model, w, h int) string {
	e := emulated(m, w, h)
	lines := make([]string, h)
	for y := range h {
		for x := range w {
			lines[y] += string(letter(e.CellAt(x, y)))
		}
		lines[y] = strings.TrimRight(lines[y], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func letter(c *uv.Cell) rune {
	switch {
	case c == nil || strings.TrimSpace(c.Content) == "":
		return ' '
	case c.Style.Attrs&uv.AttrFaint != 0:
		return 'd'
	}
	l := '.'
	if i, ok := c.Style.Fg.(ansi.IndexedColor); ok {
		l = letters[i]
	}
	if c.Style.Attrs&uv.AttrBold != 0 {
		return []rune(strings.ToUpper(strings.ReplaceAll(string(l), ".", "+")))[0]
	}
	return l
}

func sized(m *model, w, h int) *model {
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

// pressNames presses keys by their names.
func pressNames(m *model, names string) {
	for _, name := range strings.Fields(names) {
		if name == "space" {
			m.Update(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
			continue
		}
		press(m, name)
	}
}

// everything fills in what a full session knows: whole requests, the roofline, the
// engine's histograms and origins, all that a GPU can tell.
func everything(f *frame.Frame) {
	c := &f.Client
	c.E2E = measure.Summary{N: 321, Mean: 3300, Min: 2100, P50: 3120, P90: 4020, P95: 4210, P99: 4800, P999: 4990, Max: 5001}
	c.Setup = measure.Summary{N: 321, P50: 0.21, P95: 0.44}
	c.TTFA = measure.Summary{N: c.TTFT.N, P50: c.TTFT.P50 + 700, P95: c.TTFT.P95 + 900}
	c.ByClass = map[measure.Class]int{"http_5xx": 2, "timeout": 1, "rate_limited": 7}
	c.Failed, c.Cancelled, c.LastError = 3, 2, "HTTP 503 from http://gpu-box:8000/v1/chat/completions: the engine is shutting down"
	f.Health.GCPauseMs, f.Health.CoalescedShare = 0.31, 0.04
	f.Roofline = roofline.Bounds{TPOTFloorMS: opt.Of(5.13), TTFTFloorMS: opt.Of(38.), MBU: opt.Of(0.36), MFU: opt.Of(0.21), Assumes: "8.0 B parameters of 2 bytes, 3 350 GB/s, 989 TFLOP/s"}
	everythingOfEngine(f)
	for i := range f.GPU.GPUs {
		g := &f.GPU.GPUs[i]
		g.Tensor, g.Busy, g.Occupancy = opt.Of(0.31), opt.Of(1.), opt.Of(0.22)
		g.PCIeSent, g.PCIeReceived, g.MemClock = opt.Of(1.2e9), opt.Of(0.4e9), opt.Of(2.6e9)
	}
}

func everythingOfEngine(f *frame.Frame) {
	if !f.Engine.Have {
		return
	}
	f.Engine.Identity.MetricsURL = "http://gpu-box:8000/metrics"
	r := &f.Engine.Reading
	n := f.At.Seconds()
	r.KVCapacityTokens, r.KVFillMax, r.Preemptions = opt.Of(401_234.), r.KVFill, opt.Of(3.)
	r.PrefixQueries, r.PrefixHits = opt.Of(1000*n), opt.Of(250*n)
	r.PromptTokensPerS, r.GenerationTokensPerS = opt.Of(9000+n), opt.Of(1100+n)
	r.TTFT = engine.Histogram{Bounds: []float64{0.1, 0.2, math.Inf(1)}, Counts: []float64{n, 4 * n, 5 * n}, Sum: 0.8 * n, Count: 5 * n}
	r.Gap = engine.Histogram{Bounds: []float64{0.01, 0.02, math.Inf(1)}, Counts: []float64{n, 400 * n, 500 * n}, Sum: 8 * n, Count: 500 * n}
	r.E2E = engine.Histogram{Bounds: []float64{2, 4, math.Inf(1)}, Counts: []float64{n, 4 * n, 5 * n}, Sum: 16 * n, Count: 5 * n}
	r.Notes = []string{"the page shows no waiting time"}
	r.Origins = map[engine.Field]engine.Origin{}
	for name, source := range map[engine.Field]string{"KV cache fill": "vllm:kv_cache_usage_perc", "running": "vllm:num_requests_running", "waiting": "vllm:num_requests_waiting"} {
		r.Origins[name] = engine.Origin{Source: source, At: r.At}
	}
}

// full gives each Frame everything.
func full(frames []*frame.Frame) []*frame.Frame {
	for _, f := range frames {
		everything(f)
	}
	return frames
}

// busy is a session of 75 s: 8 streams, then 16, then a long prompt.
func busy(w, h int) *model { return session(w, h, newTestTheme()) }

func withoutColour(w, h int) *model { return session(w, h, theme.New(0, false)) }

func ascii(w, h int) *model { return session(w, h, theme.New(0, true)) }

// busyFrames are played once.
var busyFrames = sync.OnceValue(func() []*frame.Frame {
	s := newFake(8)
	frames := allFrames(s, 20*time.Second)
	l := s.load
	l.Concurrency = 16
	s.SetLoad(l)
	frames = append(frames, moreFrames(s, 40*time.Second)...)
	s.FireLong()
	return full(append(frames, moreFrames(s, 15*time.Second)...))
})

func session(w, h int, th *theme.Palette) *model {
	all := &playback{frames: busyFrames(), given: len(busyFrames())}
	m := newModel(Options{Frames: all, Controls: newFake(16), Judge: &fakeJudge{}, SLOs: []slo.Target{{Text: "ttft_p95=800ms", Metric: "ttft", Quantile: 0.95, LimitMS: 800}, {Text: "tpot_p95=20ms", Metric: "tpot", Quantile: 0.95, LimitMS: 20}}}, th)
	m.pull(time.Now())
	return sized(m, w, h)
}

// swept has a knee at 16 streams, an unsettled level, and one at other lengths.
func swept(w, h int) *model {
	m := busy(w, h)
	unsettled, other := row(48, 3, 1480), row(4, 50, 500)
	unsettled.Settled, unsettled.Failed, unsettled.Engine.KV = false, 7, opt.Float{}
	other.Load.InputTokens = 64
	m.Levels = &fakeLevels{rows: []level.Level{other, row(1, 20, 101), row(2, 60, 201), row(4, 120, 399), row(8, 400, 800), row(16, 400, 1400), row(32, 400, 1450), unsettled}}
	return m
}

func sweeping(w, h int) *model {
	m := busy(w, h)
	m.Sweeper = &fakeSweeper{status: sweep.Status{State: sweep.Running, Level: 3, More: 6, Guess: true, Left: 95 * time.Second}}
	m.pull(time.Now())
	return sized(m, w, h)
}

// replaying is a recording, after a key.
func replaying(key string) func(w, h int) *model {
	return func(w, h int) *model {
		frames := allFrames(newFake(4), 60*time.Second)
		m, p, _ := replayed(frames, 30*time.Second)
		if key == "end" {
			p.state.At, p.state.Ended = time.Minute, true
			m.pull(time.Now())
		}
		return sized(m, w, h)
	}
}

// fleet is three replicas with a GPU each on machines of their own.
func fleet(w, h int) *model {
	s := threeReplicas()
	s.gpus = 3
	s.play(20 * time.Second)
	for _, f := range s.frames {
		for i := range f.GPU.GPUs {
			f.GPU.GPUs[i].Host = fmt.Sprintf("node-%d", i)
		}
	}
	return at(s, w, h)
}

// sixteen GPUs, of which one is lost and one only reports how busy it is.
func sixteen(w, h int) *model {
	s := newFake(2)
	s.gpus = 16
	s.play(20 * time.Second)
	for _, f := range s.frames {
		for i := range f.GPU.GPUs {
			f.GPU.GPUs[i].Index = i
		}
		f.GPU.GPUs[5] = gpu.Reading{Index: 5, Name: "NVIDIA H100 80GB HBM3", Lost: true, Note: "GPU lost (code 15): reset it"}
		f.GPU.GPUs[9].SM, f.GPU.GPUs[9].Busy = opt.Float{}, opt.Of(1.)
	}
	return at(s, w, h)
}

// troubled is a server without metrics that refuses everything, read by a client that
// is the limit.
func troubled(w, h int) *model {
	s := newFake(4)
	s.noGPU, s.noKV = true, true
	f := &frame.Frame{Seq: 1, At: 9 * time.Second, Slice: fakeSlice, Target: frame.Target{Started: fakeStart, Host: "gpu-box:8000"}}
	f.Load.Requested, f.Load.Level, f.Load.Max = frame.Load{Concurrency: 4, InputTokens: 1024, OutputTokens: 256, Prefix: "unique"}, 1, 256
	f.Client.Window, f.Client.Sent, f.Client.Failed = 30*time.Second, 44, 41
	f.Client.ByClass = map[measure.Class]int{"connect": 40, "http_5xx": 1}
	f.Client.LastError, f.Client.Retrying, f.Client.InFlight = "connect: connection refused", 3, 3
	f.Health = frame.Health{Stamps: "read", CPU: opt.Of(1.2), LateMsP99: 8.1, Bottleneck: true, Why: "this client is out of CPU"}
	f.Engine.Why = "llama-server: start it with --metrics"
	f.GPU.Why = "no NVML library and no exporter: start dcgm-exporter and give its address with --gpu"
	m := newModel(Options{Frames: &playback{frames: []*frame.Frame{f}}}, newTestTheme())
	m.pull(time.Now())
	m.live.Frame.Load.Requested = f.Load.Requested
	return sized(m, w, h)
}

// outage is a server that has served, and for twelve seconds refuses everything because it
// loads its model: each of four streams tries once a second.
func outage(w, h int) *model {
	frames := allFrames(newFake(4), 20*time.Second)
	last := frames[len(frames)-1]
	for i := range 48 {
		f := *last
		f.Seq, f.At = last.Seq+uint64(i)+1, last.At+time.Duration(i+1)*fakeSlice
		c := &f.Client
		c.SliceOutTokens, c.SliceInTokens, c.SliceRequests, c.SliceTTFT, c.SliceTPOT, c.SliceGaps, c.SliceGapCounts = 0, 0, 0, nil, nil, nil, nil
		c.InFlight, c.Prefill, c.OldestWaiting, c.Retrying, f.Requests, f.Streams, f.Events = 0, 0, 0, 4, nil, nil, nil
		c.Counts = measure.Counts{Sent: 60 + i/4*4, OK: 60, ByClass: map[measure.Class]int{measure.Loading: 4 * (i/4 + 1)}}
		if i%4 == 0 {
			for slot := range 4 {
				f.Requests = append(f.Requests, measure.Request{Slot: slot, Class: measure.Loading, Error: "the model is loading"})
				f.Streams = append(f.Streams, measure.StreamCell{Slot: slot, Ended: true, Failed: true})
			}
		}
		frames = append(frames, &f)
	}
	m := newModel(Options{Frames: &playback{frames: frames, given: len(frames)}, Judge: diagnose.New()}, newTestTheme())
	m.pull(time.Now())
	return sized(m, w, h)
}

// watching sends nothing: what is seen is the engine's own account of other clients.
func watching(w, h int) *model {
	frames := full(allFrames(newFake(0), 20*time.Second))
	for _, f := range frames {
		f.Load.Watch, f.Client.Counts, f.Client.LastError = true, measure.Counts{}, ""
		f.Engine.Reading.Running, f.Engine.Reading.Waiting = opt.Of(54), opt.Of(80)
	}
	m := newModel(Options{Frames: &playback{frames: frames, given: 80}}, newTestTheme())
	m.pull(time.Now())
	return sized(m, w, h)
}

// stale has heard nothing of engine and GPU for half a minute, and no Frame for ten
// seconds.
func stale(w, h int) *model {
	s := newFake(4).play(10 * time.Second)
	f := *s.frames[len(s.frames)-1]
	f.Seq, f.At = f.Seq+1, f.At+30*time.Second
	f.Engine.Why, f.GPU.Why = "connection refused", "nvidia-smi takes longer than 5 s"
	f.Client.OldestWaiting = 8300 * time.Millisecond
	m := newModel(Options{Frames: &playback{frames: append(slices.Clone(s.frames), &f), given: len(s.frames) + 1}}, newTestTheme())
	m.pull(time.Now())
	m.live.Silent = 10 * time.Second
	return sized(m, w, h)
}

func connecting(w, h int) *model {
	m := newModel(Options{Frames: preparing{newFake(0).play(2 * time.Second), frame.StageFitting}}, newTestTheme())
	m.pull(time.Now())
	return sized(m, w, h)
}

func rehearsed(w, h int) *model {
	m := busy(w, h)
	m.Rehearsal = newRehearsal()
	return m
}

// Every scene has its file and every file its scene.
func TestGoldenFilesAreUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(errors.Join(err))
	}
	known := append(slices.Sorted(maps.Keys(scenes)), "colour", "nocolour")
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".txt"); !slices.Contains(known, name) {
			t.Errorf("%s belongs to no scene", f)
		}
	}
}
