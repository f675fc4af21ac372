package doctor

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sonde/probe/doctor/truth"
	"sonde/probe/opt"
	"sonde/probe/process"
	"sonde/probe/units"
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

	Rounds []RoundErrors `json:"rounds"` // fewest streams first
	Ramp   []RampStep    `json:"ramp"`
	// HighestTokensPerS is the highest rate that the client kept up with; Limit is
	// what ended the search, "" if its time was up.
	HighestTokensPerS opt.Float `json:"highest_tokens_per_s"`
	Limit             string    `json:"limit"`

	Budget []string `json:"budget"` // the result in words
	Notes  []string `json:"notes"`
}

// script is what a calibration runs.
type script struct {
	rounds []round
	ramp   bool          // search the highest rate
	within time.Duration // all of it
}

// wholeScript has the loads of one busy engine, from quiet to far beyond what one
// operator puts on. The spacing of tokens is that of an engine that decodes in
// 50 ms.
func wholeScript() script {
	const perSecond = 20
	s := script{ramp: true, within: time.Minute}
	for _, streams := range []int{16, 64, 256, 1024} {
		s.rounds = append(s.rounds, round{streams: streams, perSecond: perSecond}, round{streams: streams, perSecond: perSecond, inSteps: true})
		if streams == 256 {
			s.rounds = append(s.rounds, round{streams: streams, perSecond: perSecond, inSteps: true, tls: true})
		}
	}
	for i := range s.rounds {
		s.rounds[i] = s.rounds[i].sized(100, 60)
	}
	return s
}

// sized sets the amount of work: requests enough for a percentile of TTFT and
// never fewer than three on a stream, and about that many tokens on each stream.
func (r round) sized(requests, tokensPerStream int) round {
	each := max(3, (requests+r.streams-1)/r.streams)
	r.requests, r.tokens = each*r.streams, max(2, tokensPerStream/each)
	return r
}

// Calibrate measures the program's own error. It takes about a minute and loads
// this machine, no other. progress is called with what is going on.
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
	if busy := loadAverage(); busy.Or(0) > float64(c.Cores)/2 {
		c.note("Other programs were busy on this machine (load %.1f on %d cores): errors are upper bounds.", busy.V, c.Cores)
	}
	rig := rig{server: server, epoch: began}
	for _, r := range c.fitting(s.rounds) {
		progress(r.String())
		seen, err := rig.run(ctx, r)
		if err != nil {
			return c, err
		}
		c.Rounds = append(c.Rounds, compare(r, seen))
	}
	if s.ramp {
		if err := c.climb(ctx, rig, began.Add(s.within), progress); err != nil {
			return c, err
		}
	}
	c.Budget = c.budget()
	return c, nil
}

func (c *Calibration) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// fitting skips the rounds that need more streams than this process may open, and
// says so.
func (c *Calibration) fitting(rounds []round) []round {
	var fitting []round
	for _, r := range rounds {
		if fit := streamsThatFit(); r.streams > fit {
			c.note("Skipped %s: this process may open only %d streams (raise 'ulimit -n').", r, fit)
			continue
		}
		fitting = append(fitting, r)
	}
	return fitting
}

// loadAverage is how many threads were running or ready to, averaged over the
// last minute. It is known on Linux only.
func loadAverage() opt.Float {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	return opt.Float{V: load, OK: err == nil}
}

// ownFiles is what the program opens beside its streams.
const ownFiles = 32

// streamsThatFit is how many streams the limit on open files allows.
func streamsThatFit() int {
	if limit, known := process.FileLimit(); known && limit <= 1<<30 {
		return max(1, int(limit)-ownFiles)
	}
	return math.MaxInt
}

const (
	rampStreams  = 256
	rampFrom     = 5120.0 // tokens/s: 20 on each stream
	rampLeast    = 1280.0 // a machine that cannot keep up with this is too busy to measure
	rampStepTime = 2 * time.Second
	rampFine     = 1.2             // the search ends when failure is this near to success
	rampSlack    = 2 * time.Second // of a step beyond its streaming: the pool staggers the start of many streams
)

// climb looks for the highest rate that the client keeps up with: by doubling,
// then between the last success and the first failure, until the time is up.
func (c *Calibration) climb(ctx context.Context, g rig, until time.Time, progress func(string)) error {
	streams := min(rampStreams, streamsThatFit())
	low, high := 0.0, 0.0
	for next := rampFrom; next > 0 && time.Until(until) > rampStepTime+rampSlack; next = nextRate(low, high) {
		progress(fmt.Sprintf("%s tokens/s over %d streams", units.WholeCommas(next), streams))
		perSecond := next / float64(streams)
		seen, err := g.run(ctx, round{streams: streams, perSecond: perSecond, requests: streams, tokens: int(rampStepTime.Seconds() * perSecond)})
		if err != nil {
			return err
		}
		step := judge(next, seen, float64(c.Cores))
		c.Ramp = append(c.Ramp, step)
		if step.Followed {
			low, c.HighestTokensPerS = next, opt.Of(step.Rate)
		} else {
			high, c.Limit = next, step.Objection
		}
	}
	return nil
}

// nextRate is the next rate to try, between the highest success and the lowest
// failure so far (0: none). It is 0 when the two are near enough.
func nextRate(success, failure float64) float64 {
	switch {
	case failure == 0:
		return 2 * success
	case success == 0 && failure <= rampLeast:
		return 0
	case success == 0:
		return failure / 2
	case failure/success < rampFine:
		return 0
	}
	return math.Sqrt(success * failure)
}
