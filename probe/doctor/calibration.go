package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sonde/probe/doctor/truth"
	"sonde/probe/opt"
	"sonde/probe/process"
)

// CalibrationSchema names the form of a Calibration in JSON.
const CalibrationSchema = "sonde/calibration/1"

// Calibration is the error that this program makes on this machine, found by
// measuring a server of its own that knows when it sent each token.
type Calibration struct {
	Schema string `json:"schema"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Cores  int    `json:"cores"`

	Rounds []RoundErrors `json:"rounds"`
	Ramp   []RampStep    `json:"ramp"`
	// HighestTokensPerS is the highest rate that was followed; Limit is what ended
	// the search, "" if its time was up.
	HighestTokensPerS opt.Float `json:"highest_tokens_per_s"`
	Limit             string    `json:"limit"`

	Budget []string `json:"budget"` // the result in words
	Notes  []string `json:"notes"`
}

// script is what a calibration goes through.
type script struct {
	rounds    []demand
	fewest    int           // TTFT samples of a round, at least
	perStream int           // tokens of each stream in a round, about
	ramp      bool          // search the highest rate
	within    time.Duration // all of it
}

// demand is the load of one round.
type demand struct {
	streams   int
	perSecond float64 // tokens of one stream
	inSteps   bool
	tls       bool
}

// wholeScript has the loads of one busy engine, from quiet to far beyond what one
// operator puts on. The spacing of tokens is that of an engine that decodes in
// 50 ms.
func wholeScript() script {
	const perSecond = 20
	s := script{fewest: 100, perStream: 60, ramp: true, within: time.Minute}
	for _, streams := range []int{16, 64, 256, 1024} {
		s.rounds = append(s.rounds, demand{streams, perSecond, false, false}, demand{streams, perSecond, true, false})
		if streams == 256 {
			s.rounds = append(s.rounds, demand{streams, perSecond, true, true})
		}
	}
	return s
}

// Calibrate measures the program's own error. It takes about a minute and loads
// this machine, no other. progress is told what is going on.
func Calibrate(ctx context.Context, progress func(string)) (Calibration, error) {
	return wholeScript().run(ctx, progress)
}

func (s script) run(ctx context.Context, progress func(string)) (Calibration, error) {
	began := time.Now()
	c := Calibration{Schema: CalibrationSchema, OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0), Notes: []string{}}
	server, err := truth.Start(ctx)
	if err != nil {
		return c, err
	}
	defer server.Close()
	if !server.OwnProcess {
		c.note("The scripted server shares this process, because another one cannot be started (" + server.Why + "): errors are upper bounds.")
	}
	rig := rig{server: server, epoch: time.Now()}
	if busy, known := loadAverage(); known && busy > float64(c.Cores)/2 {
		c.note(fmt.Sprintf("Other programs were busy on this machine (load %.1f on %d cores): errors are upper bounds.", busy, c.Cores))
	}
	for _, l := range s.fitting(&c, server.OwnProcess) {
		progress(fmt.Sprintf("%s streams %s", thousands(float64(l.streams)), l.pattern()))
		seen, err := rig.run(ctx, l.round(s))
		if err != nil {
			return c, err
		}
		c.Rounds = append(c.Rounds, compare(l, seen))
	}
	if s.ramp {
		if err := c.climb(ctx, rig, began.Add(s.within), progress); err != nil {
			return c, err
		}
	}
	c.Budget = c.budget()
	return c, nil
}

func (c *Calibration) note(text string) { c.Notes = append(c.Notes, text) }

// loadAverage is how many threads wanted to run, as a mean over the last minute.
// Only Linux tells.
func loadAverage() (float64, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	return load, err == nil
}

// ownFiles is what the program opens beside its streams.
const ownFiles = 32

// streamsThatFit is how many streams the limit of open files allows.
func streamsThatFit(ownProcess bool) (int, bool) {
	limit, known := process.FileLimit()
	if !known || limit > 1<<30 {
		return 0, false
	}
	fit := max(1, int(limit)-ownFiles)
	if !ownProcess {
		fit = max(1, fit/2) // both ends of each connection are ours
	}
	return fit, true
}

// fitting leaves out what this process may not open, and says so.
func (s script) fitting(c *Calibration, ownProcess bool) []demand {
	fit, limited := streamsThatFit(ownProcess)
	var rounds []demand
	for _, l := range s.rounds {
		if limited && l.streams > fit {
			c.note(fmt.Sprintf("%s streams %s were left out: this process may open files for %d (raise 'ulimit -n').", thousands(float64(l.streams)), l.pattern(), fit))
			continue
		}
		rounds = append(rounds, l)
	}
	return rounds
}

func (l demand) pattern() string {
	text := "spread"
	if l.inSteps {
		text = "in steps"
	}
	if l.tls {
		text += ", TLS"
	}
	return text
}

func (l demand) gap() time.Duration { return time.Duration(float64(time.Second) / l.perSecond) }

// round is the amount of work for the load: enough requests for a 99th
// percentile of TTFT, and never fewer than three on a stream.
func (l demand) round(s script) round {
	each := max(3, (s.fewest+l.streams-1)/l.streams)
	return round{demand: l, requests: each * l.streams, tokens: max(2, s.perStream/each)}
}
