package core

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"sonde/probe/sim/faults"
)

// hall is an engine in virtual time on which a scene plays, and one client of our own
// that sends 256 tokens and asks for 128, again and again.
type hall struct {
	*bench
	table   *faults.Timetable
	faults  []string // with the second at which they began
	arrived []string // requests of others, with the moment
	ours    []visit
	waiting []int // at every full second
	kv      []float64
	lost    []int // preemptions
}

// visit is one request of ours.
type visit struct {
	at         time.Duration
	ttft, tpot time.Duration
	worst      time.Duration // gap
}

// The hall is the engine of the timetable.
func (h *hall) Now() time.Duration          { return h.now }
func (h *hall) StandStill(by time.Duration) { h.core.pause += by }
func (h *hall) Room() faults.Room           { return h.core.capacity() }

func (h *hall) SetFaults(f faults.Faults) {
	h.faults = append(h.faults, fmt.Sprintf("%v %s", h.now, f))
	h.core.setFaults(f)
}

func (h *hall) Inject(prompt []uint32, answer int, done func()) (hangUp func()) {
	h.arrived = append(h.arrived, fmt.Sprint(h.now, len(prompt), prompt[0]))
	s := h.bench.submit(exactly(prompt, answer))
	s.Sink = func(_ []uint16, end FinishReason) {
		if end != Unfinished {
			done()
		}
	}
	return func() { h.core.abort(s) }
}

func (h *hall) ServiceTime(n int, next func() ([]uint32, int)) time.Duration {
	return serviceTime(h.core.Setup, n, next)
}

func perform(t *testing.T, name string, o Options, length time.Duration) *hall {
	t.Helper()
	h := &hall{bench: newBench(t, o)}
	h.table = faults.NewTimetable(h, faults.Faults{})
	if err := h.table.Play(name); err != nil {
		t.Fatal(err)
	}
	next := h.table.Advance(0)
	mine := h.visit(0)
	for h.now < length {
		for len(h.waiting) <= int(h.now/time.Second) {
			_, waiting := h.core.counts()
			h.waiting, h.kv, h.lost = append(h.waiting, waiting), append(h.kv, h.core.kv.usage()), append(h.lost, h.core.stats.Preemptions)
		}
		it, ok := h.core.begin(h.now)
		if !ok {
			h.now = next
			next = h.table.Advance(next)
			continue
		}
		for next < it.End {
			h.now = next
			next = h.table.Advance(next)
		}
		h.now = it.End
		for _, y := range h.core.finish(it.End) {
			if y.Seq.Sink(y.words, y.End); y.Seq == mine && !y.First {
				v := &h.ours[len(h.ours)-1]
				v.worst = max(v.worst, y.Gap)
			}
		}
		if mine.ended != Unfinished {
			v := &h.ours[len(h.ours)-1]
			v.ttft, v.tpot = mine.First-mine.Arrived, (mine.Last-mine.First)/127
			mine = h.visit(len(h.ours))
		}
		next = h.table.Advance(h.now)
	}
	return h
}

func (h *hall) visit(n int) *Sequence {
	h.ours = append(h.ours, visit{at: h.now})
	return h.bench.submit(exactly(prompt(256, uint32(n)), 128))
}

// mean of a figure over our requests that began and ended between two seconds.
func (h *hall) mean(from, to int, figure func(visit) time.Duration) float64 {
	var sum float64
	n := 0
	for i, v := range h.ours[:len(h.ours)-1] {
		if v.at >= time.Duration(from)*time.Second && h.ours[i+1].at <= time.Duration(to)*time.Second {
			sum += figure(v).Seconds()
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

func ttftOf(v visit) time.Duration  { return v.ttft }
func paceOf(v visit) time.Duration  { return v.tpot }
func worstOf(v visit) time.Duration { return v.worst }

// stages are machines of very different size: incidents are incidents on all of them.
var stages = map[string]Options{
	"demo":  {},
	"large": {GPU: "H200", KVGB: 60, MaxSeqs: 256, TokenBudget: 8192},
	"small": {Model: "Llama-3.2-1B", GPU: "L4", KVGB: 2},
}

func TestTimetable(t *testing.T) {
	h := perform(t, "slow-replica", Options{}, 250*time.Second)
	// 20 s of calm, 60 s of trouble, 40 s of recovery, and again.
	got := strings.Join(h.faults, "; ")
	if want := "20s slow=3; 1m20s ; 2m20s slow=3; 3m20s "; !sameTimes(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	near(t, "TPOT in the incident", h.mean(22, 78, paceOf), 3*h.mean(1, 19, paceOf), 0.01)
	near(t, "TPOT in the recovery", h.mean(84, 118, paceOf), h.mean(1, 19, paceOf), 0.01)
}

// sameTimes compares to the next iteration: an act begins when one ends.
func sameTimes(got, want string) bool {
	a, b := strings.Split(got, "; "), strings.Split(want, "; ")
	for i := range b {
		if i >= len(a) {
			return false
		}
		at, faults, _ := strings.Cut(a[i], " ")
		due, wanted, _ := strings.Cut(b[i], " ")
		x, _ := time.ParseDuration(at)
		y, _ := time.ParseDuration(due)
		if faults != wanted || (x-y).Abs() > 50*time.Millisecond {
			return false
		}
	}
	return len(a) == len(b)
}

func TestThrottlingSlowsPrefillMoreThanDecode(t *testing.T) {
	h := perform(t, "throttling", Options{}, 80*time.Second)
	// 22 ms of arithmetic at 0.4 of the clock; 9.2 of 9.84 ms are memory traffic, of
	// which 0.4/0.6 of the speed is left.
	near(t, "TTFT", h.mean(22, 78, ttftOf), 0.0006+0.022/0.4, 0.02)
	near(t, "TPOT", h.mean(22, 78, paceOf), 0.0006+0.00924*1.5, 0.01)
}

func TestOverloadGrowsTheQueue(t *testing.T) {
	for name, o := range stages {
		h := perform(t, "overload", o, 118*time.Second)
		at := func(second int) int { return h.waiting[second] }
		if at(19) != 0 || at(117) != 0 {
			t.Errorf("%s: %d wait before and %d after the incident", name, at(19), at(117))
		}
		if !(at(40) >= 3 && at(60) >= at(40)*5/4+3 && at(79) >= at(60)*5/4) {
			t.Errorf("%s: the queue is %d, %d, %d long after 20, 40, 60 s", name, at(40), at(60), at(79))
		}
	}
}

func TestLongPromptsStretchGaps(t *testing.T) {
	for name, o := range stages {
		h := perform(t, "long-prompts", o, 78*time.Second)
		calm, incident := h.mean(1, 19, worstOf), h.mean(22, 78, worstOf)
		worst := time.Duration(0)
		for _, v := range h.ours {
			if v.at > 20*time.Second {
				worst = max(worst, v.worst)
			}
		}
		if worst.Seconds() < 8*calm {
			t.Errorf("%s: the worst gap is %v (mean %.0f ms), calm ones are of %.0f ms", name, worst, 1000*incident, 1000*calm)
		}
		if n := len(h.arrived); n != 12 { // one every 5 s
			t.Errorf("%s: %d long prompts", name, n)
		}
	}
}

func TestExhaustionPreempts(t *testing.T) {
	for name, o := range stages {
		h := perform(t, "kv-exhaustion", o, 118*time.Second)
		if h.lost[19] != 0 || h.lost[79] < 5 || h.lost[117] != h.lost[85] {
			t.Errorf("%s: %d preemptions before, %d in the incident, %d after it", name, h.lost[19], h.lost[79], h.lost[117]-h.lost[85])
		}
		var fill float64
		for _, v := range h.kv[50:79] {
			fill += v / 29
		}
		if fill < 0.9 {
			t.Errorf("%s: the KV cache is %.0f %% full in the incident", name, 100*fill)
		}
	}
}

func TestNoisyNeighbourSlowsOurs(t *testing.T) {
	for name, o := range stages {
		h := perform(t, "noisy-neighbour", o, 118*time.Second)
		if calm, incident := h.mean(1, 19, paceOf), h.mean(22, 78, paceOf); incident < 1.2*calm {
			t.Errorf("%s: TPOT goes from %.1f to %.1f ms", name, 1000*calm, 1000*incident)
		}
		if calm, incident := h.mean(1, 19, ttftOf), h.mean(22, 78, ttftOf); incident < 1.1*calm {
			t.Errorf("%s: TTFT goes from %.1f to %.1f ms", name, 1000*calm, 1000*incident)
		}
		if calm, after := h.mean(1, 19, paceOf), h.mean(90, 117, paceOf); after > 1.01*calm {
			t.Errorf("%s: TPOT %.1f ms in the recovery, %.1f before", name, 1000*after, 1000*calm)
		}
	}
}

// The same seed brings the same requests at the same moments.
func TestScenariosAreRepeatable(t *testing.T) {
	first, again, other := perform(t, "overload", Options{Seed: 4}, 40*time.Second), perform(t, "overload", Options{Seed: 4}, 40*time.Second), perform(t, "overload", Options{Seed: 5}, 40*time.Second)
	if len(first.arrived) < 20 || fmt.Sprint(first.arrived) != fmt.Sprint(again.arrived) {
		t.Errorf("%d and %d requests with the same seed", len(first.arrived), len(again.arrived))
	}
	if fmt.Sprint(first.arrived) == fmt.Sprint(other.arrived) {
		t.Error("another seed changes nothing")
	}
}

func TestEveryScenarioCanBePlayed(t *testing.T) {
	for _, s := range faults.Scenarios {
		if h := perform(t, s.Name, Options{}, 30*time.Second); s.Description == "" || len(h.faults)+len(h.arrived) == 0 {
			t.Errorf("nothing happens in %s", s.Name)
		}
		if _, err := (Options{Scenario: s.Name}).Resolve(); err != nil {
			t.Error(err)
		}
	}
	if _, err := (Options{Scenario: "tsunami"}).Resolve(); err == nil || !strings.Contains(err.Error(), "overload, long-prompts") {
		t.Errorf("%v does not name the scenarios", err)
	}
}
