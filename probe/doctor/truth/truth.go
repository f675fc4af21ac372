// Package truth is a scripted server that knows when it sent each token: it
// streams answers on a fixed schedule, and notes the instant right before each
// write and the arrival of each request. What a client measured can then be
// compared with what happened.
//
// Client and server only ever exchange durations between instants of their own
// clock, so that the two clocks need a common rate and no common zero.
package truth

import "time"

// Round is how tokens are sent until the next Round. Every answer follows one
// absolute schedule, whenever its request came and however late a write was.
type Round struct {
	Streams int           `json:"streams"`
	Gap     time.Duration `json:"gap_ns"`   // between the tokens of one stream; 0 answers no requests
	InSteps bool          `json:"in_steps"` // all streams at the same instants, else spread over the gap
}

// leadTime is the least time from a request to its first token, so that the head
// of the reply is out by then.
const leadTime = time.Millisecond

// first is when the first token of a request is due, as time since the round
// began; arrived is when the request came.
func (r Round) first(request int, arrived time.Duration) time.Duration {
	offset := time.Duration(0)
	if !r.InSteps && r.Streams > 0 {
		offset = r.Gap * time.Duration(request%r.Streams) / time.Duration(r.Streams)
	}
	earliest := arrived + leadTime
	if earliest <= offset {
		return offset
	}
	steps := (earliest - offset + r.Gap - 1) / r.Gap
	return offset + steps*r.Gap
}

// Record is what the server knows of one request. Instants are nanoseconds since
// the server began.
type Record struct {
	Request   int     `json:"request"`    // number that its prompt carried
	ArrivedNS int64   `json:"arrived_ns"` // when it came
	DueNS     int64   `json:"due_ns"`     // when its first token was due
	WroteNS   []int64 `json:"wrote_ns"`   // right before the write of each token
	TookNS    []int64 `json:"took_ns"`    // how long that write took
}

// Report is what happened in a round.
type Report struct {
	Records []Record `json:"records"`
	CPUNS   int64    `json:"cpu_ns"` // processor time of the server's process in the round; 0 if unknown
	Error   string   `json:"error,omitempty"`
}
