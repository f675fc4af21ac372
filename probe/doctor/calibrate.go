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
func wholeScript() (rounds []Round) {
	for _, streams := range []int{16, 64, 256, 1024} {
		for _, pattern := range []Pattern{Spread, Steps} {
			rounds = append(rounds, roundOf(streams, pattern, false, 100, 60))
		}
		if streams == 256 {
			rounds = append(rounds, roundOf(streams, Steps, true, 100, 60))
		}
	}
	return rounds
}

// roundOf has at least so many requests, for a percentile of TTFT, and never fewer than
// three on a stream; and about so many tokens on each stream, 20 of them per second.
func roundOf(streams int, pattern Pattern, tls bool, requests, tokensPerStream int) Round {
	each := max(3, (requests+streams-1)/streams)
	return Round{
		Streams: streams, TokensPerS: 20 * float64(streams), Pattern: pattern, TLS: tls,
		requests: each * streams, tokens: max(2, tokensPerStream/each),
	}
}

// Calibrate measures the program's own error. It takes about a minute and loads
// this machine, no other. progress is called with what is going on.
func Calibrate(ctx context.Context, progress func(string)) (*Calibration, error) {
	return calibrate(ctx, wholeScript(), time.Now().Add(time.Minute), progress)
}

// calibrate runs the rounds, and searches the highest rate in the time that is left.
func calibrate(ctx context.Context, rounds []Round, until time.Time, progress func(string)) (*Calibration, error) {
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
	fit := streamsThatFit()
	for _, r := range rounds {
		if r.Streams > fit {
			c.note("Skipped %s: this process may open only %d streams (raise 'ulimit -n').", r, fit)
			continue
		}
		progress(r.String())
		seen, err := rig.run(ctx, r)
		if err != nil {
			return c, err
		}
		c.Rounds = append(c.Rounds, compare(r, seen))
	}
	err = c.climb(ctx, rig, min(rampStreams, fit), until, progress)
	c.Budget = c.budget()
	return c, err
}

func (c *Calibration) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
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
func (c *Calibration) climb(ctx context.Context, g rig, streams int, until time.Time, progress func(string)) error {
	low, high := 0.0, 0.0
	for next := rampFrom; next > 0 && time.Until(until) > rampStepTime+rampSlack; next = nextRate(low, high) {
		progress(fmt.Sprintf("%s tokens/s over %d streams", units.WholeCommas(next), streams))
		tokens := int(rampStepTime.Seconds() * next / float64(streams))
		r := Round{Streams: streams, TokensPerS: next, Pattern: Spread, requests: streams, tokens: tokens}
		seen, err := g.run(ctx, r)
		if err != nil {
			return err
		}
		step := judge(r, seen, float64(c.Cores))
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
