package doctor

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"sonde/probe/doctor/truth"
	"sonde/probe/opt"
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

// wholeScript has the loads of one busy engine, from quiet to far beyond what one
// operator puts on. The spacing of tokens is that of an engine that decodes in 50 ms.
func wholeScript() (rounds []round) {
	for _, streams := range []int{16, 64, 256, 1024} {
		r := round{streams: streams, perSecond: 20}.sized(100, 60)
		rounds = append(rounds, r)
		r.inSteps = true
		rounds = append(rounds, r)
		if r.tls = true; streams == 256 {
			rounds = append(rounds, r)
		}
	}
	return rounds
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
func Calibrate(ctx context.Context, progress func(string)) (*Calibration, error) {
	return calibrate(ctx, wholeScript(), time.Now().Add(time.Minute), progress)
}

// calibrate runs the rounds, and searches the highest rate in the time that is left.
func calibrate(ctx context.Context, rounds []round, until time.Time, progress func(string)) (*Calibration, error) {
	c := &Calibration{Schema: CalibrationSchema, OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0), Notes: []string{}}
	server, err := truth.Start(ctx)
	if err != nil {
		return c, err
	}
	defer server.Close()
	if busy := loadAverage(); busy.Or(0) > float64(c.Cores)/2 {
		c.note("Other programs were busy on this machine (load %.1f on %d cores): errors are upper bounds.", busy.V, c.Cores)
	}
	rig := rig{server: server, epoch: time.Now()}
	for _, r := range c.fitting(rounds) {
		progress(r.String())
		seen, err := rig.run(ctx, r)
		if err != nil {
			return c, err
		}
		c.Rounds = append(c.Rounds, compare(r, seen))
	}
	err = c.climb(ctx, rig, until, progress)
	c.Budget = c.budget()
	return c, err
}

func (c *Calibration) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// fitting skips the rounds that need more streams than this process may open, and
// says so.
func (c *Calibration) fitting(rounds []round) (fitting []round) {
	fit := streamsThatFit()
	for _, r := range rounds {
		if r.streams > fit {
			c.note("Skipped %s: this process may open only %d streams (raise 'ulimit -n').", r, fit)
			continue
		}
		fitting = append(fitting, r)
	}
	return fitting
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
	case success == 0 && failure <= rampLeast, success > 0 && failure/success < rampFine:
		return 0
	case success == 0:
		return failure / 2
	}
	return math.Sqrt(success * failure)
}
