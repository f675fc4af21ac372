package report

import (
	"time"

	"sonde/probe/bench"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// at is an instant in milliseconds since the session began.
func at(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// stream makes a successful request: started, its first token after ttft, then
// one token per gap. All times are milliseconds.
func stream(start, ttft, gap float64, tokens int) measure.Request {
	r := measure.Request{
		Intent: at(start), Start: at(start), First: at(start + ttft), Answer: at(start + ttft),
		Last: at(start + ttft + gap*float64(tokens-1)), Reused: true, Streamed: true, HaveAnswer: true,
		Chunks: tokens, FirstTokens: 1, RequestedIn: 8, RequestedOut: tokens, InTokens: 8, OutTokens: tokens,
		Source: measure.Usage, Finish: "stop",
	}
	r.End = r.Last
	for range tokens - 1 {
		r.GapsMS = append(r.GapsMS, float32(gap))
	}
	return r
}

// failed makes a request that failed right away.
func failed(start float64, class measure.Class, message string) measure.Request {
	return measure.Request{
		Class: class, Error: message, Intent: at(start), Start: at(start), End: at(start + 5), Streamed: true, RequestedIn: 8, RequestedOut: 8,
	}
}

// tick is the length of the test Frames.
const tick = 250 * time.Millisecond

var closed = frame.Load{Concurrency: 4, InputTokens: 8, OutputTokens: 100}

// frames cuts a list of requests into Frames up to the given instant, with the
// load on from the start. adjust may change each Frame.
func frames(until time.Duration, load frame.Load, requests []measure.Request, adjust func(*frame.Frame)) []*frame.Frame {
	var out []*frame.Frame
	for end := tick; end <= until; end += tick {
		f := &frame.Frame{Seq: uint64(len(out) + 1), At: end, Slice: tick}
		f.Load.Requested = load
		for _, r := range requests {
			began, ended := r.Intent < end, r.End <= end
			switch {
			case ended && r.End > end-tick:
				f.Requests = append(f.Requests, r)
			case began && !ended:
				f.Client.InFlight++
			}
			if began {
				f.Client.Sent++
			}
		}
		if adjust != nil {
			adjust(f)
		}
		out = append(out, f)
	}
	return out
}

func reqs(list ...measure.Request) []measure.Request { return list }

// run is a planned window that gives a Summary.
type run struct{ *bench.Window }

func newRun(plan bench.Plan) run { return run{bench.NewWindow(plan)} }

func (r run) Summary() Summary {
	o := r.Outcome()
	return New(&o)
}

// summarise runs Frames through a Window.
func summarise(plan bench.Plan, list []*frame.Frame) Summary {
	r := newRun(plan)
	for _, f := range list {
		r.Add(f)
	}
	return r.Summary()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
