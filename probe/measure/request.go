// Package measure holds what the client measures: a request that ended, with its TTFT,
// gaps, TPOT and E2E, distributions of them, and the client's part of a Frame. Only token
// counts come from the server.
package measure

import (
	"net/http"
	"time"
)

// Class says how a request failed; "" is success.
type Class string

// Classes of failure. Cancelled is our own doing and no failure; Loading waits
// for a server that is not ready and is no failure either.
const (
	OK             Class = ""
	Connect        Class = "connect"
	TLS            Class = "tls"
	HTTP4xx        Class = "http_4xx"
	RateLimited    Class = "rate_limited"
	HTTP5xx        Class = "http_5xx"
	Loading        Class = "loading"
	StreamError    Class = "stream_error" // an error inside a 200
	Truncated      Class = "truncated"    // no finish reason and no end mark
	ConnectionLost Class = "connection_lost"
	Timeout        Class = "timeout"
	Empty          Class = "empty"
	ContextLength  Class = "context_length"
	Redirect       Class = "redirect"
	BadReply       Class = "bad_reply"
	LocalLimit     Class = "local_limit"
	Cancelled      Class = "cancelled"
)

// Classes are all classes, success first.
var Classes = []Class{
	OK, Connect, TLS, HTTP4xx, RateLimited, HTTP5xx, Loading, StreamError, Truncated, ConnectionLost, Timeout, Empty, ContextLength,
	Redirect, BadReply, LocalLimit, Cancelled,
}

// Failed reports whether the class counts as a failure of the server or the path.
func (c Class) Failed() bool { return c != OK && c != Cancelled && c != Loading }

// StatusClass is the class of an HTTP status other than 2xx.
func StatusClass(status int) Class {
	switch {
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status >= 500:
		return HTTP5xx
	case status >= 400:
		return HTTP4xx
	case status >= 300:
		return Redirect
	}
	return BadReply
}

// Request is one request that ended. Instants are durations since the session
// began; latencies are undefined (absent) unless Have… says otherwise.
type Request struct {
	ID    uint64 `json:"id"`
	Slot  int    `json:"slot"`
	Level int    `json:"level"`          // 0: it spans a change of load and belongs to no level
	Long  bool   `json:"long,omitempty"` // fired on purpose with a long prompt: in no statistic
	Turn  int    `json:"turn,omitempty"` // of its conversation, from 1; 0: it stands alone
	// Conversation is the ID of the first request of the conversation.
	Conversation  uint64 `json:"conversation,omitempty"`
	HistoryTokens int    `json:"history_tokens,omitempty"` // of the turn before, prompt and answer, as the server counted them; 0: unknown or none

	Class Class  `json:"class,omitempty"`
	Error string `json:"error,omitempty"` // the server's message, control codes removed
	Cause Cause  `json:"cause,omitempty"` // why a server refuses the model

	Intent     time.Duration `json:"intent_ms"` // the slot became free, or the schedule said so
	Start      time.Duration `json:"start_ms"`  // t0: first write of the request
	First      time.Duration `json:"-"`         // a_1; valid if Chunks > 0
	Answer     time.Duration `json:"-"`         // first token that is not reasoning; valid if HaveAnswer
	Last       time.Duration `json:"-"`         // a_last; valid if Chunks > 0
	End        time.Duration `json:"end_ms"`    // t_end
	Setup      time.Duration `json:"setup_ms"`  // DNS, TCP, TLS; 0 on a reused connection
	Reused     bool          `json:"reused"`
	Streamed   bool          `json:"streamed"` // false: a whole JSON reply, which has no TTFT, gap and TPOT
	HaveAnswer bool          `json:"answered"`
	Excluded   bool          `json:"excluded,omitempty"` // our process was stopped while it ran: in no latency figure

	Chunks          int         `json:"chunks"`             // token-bearing chunks
	Coalesced       int         `json:"coalesced"`          // chunks that share their stamp with the one before
	RequestedIn     int         `json:"asked_input_tokens"` // tokens; of a conversation's request those of its newest message
	RequestedOut    int         `json:"asked_output_tokens"`
	InTokens        int         `json:"-"`
	OutTokens       int         `json:"output_tokens"`
	ReasoningTokens int         `json:"reasoning_tokens"`
	CachedTokens    int         `json:"-"`
	CachedCounted   bool        `json:"cached_counted,omitempty"` // CachedTokens is the server's count, if only of none
	FirstTokens     int         `json:"first_chunk_tokens"`       // n_1: tokens in the first chunk, 1 unless known
	Source          TokenSource `json:"token_source,omitempty"`
	Finish          string      `json:"finish,omitempty"`           // finish reason, "" if none came
	GapsMS          []float32   `json:"gaps_ms"`                    // gaps between token-bearing chunks, in their order: the first 16,384
	LaterGapsMS     []float32   `json:"later_gaps_ms,omitempty"`    // those after them, rounded to 1 %, shortest first
	LaterGapCounts  []int       `json:"later_gap_counts,omitempty"` // how many gaps each of LaterGapsMS stands for
	Note            string      `json:"note,omitempty"`             // something odd that is no failure

	RetryAfter time.Duration `json:"retry_after_ms,omitempty"` // how long a refusal asked to wait; 0 if it did not
}

// TokenSource says where the count of output tokens came from.
type TokenSource string

// Sources of token counts, best first.
const (
	UsagePerChunk TokenSource = "usage_per_chunk"
	Usage         TokenSource = "usage"
	Chunks        TokenSource = "chunks" // an estimate
)

// TTFT is a_1 − t0; absent without a token or a stream.
func (r *Request) TTFT() (ms float64, ok bool) {
	if !r.Streamed || r.Chunks == 0 {
		return 0, false
	}
	return MS(r.First - r.Start), true
}

// TTFA is the time to the first token that is not reasoning.
func (r *Request) TTFA() (ms float64, ok bool) {
	if !r.Streamed || !r.HaveAnswer {
		return 0, false
	}
	return MS(r.Answer - r.Start), true
}

// TPOT is (a_last − a_1) / (N − n_1); absent when the divisor is below 1.
func (r *Request) TPOT() (ms float64, ok bool) {
	n := r.OutTokens - r.FirstTokens
	if !r.Streamed || r.Chunks == 0 || n < 1 {
		return 0, false
	}
	return MS(r.Last-r.First) / float64(n), true
}

// E2E is a_last − t0. A reply that was not streamed ends with its last byte.
func (r *Request) E2E() (ms float64, ok bool) {
	if !r.Streamed && r.Class == OK {
		return MS(r.End - r.Start), true
	}
	if r.Chunks == 0 {
		return 0, false
	}
	return MS(r.Last - r.Start), true
}

// ClientQueue is the wait for a connection or a slot, without the setup.
func (r *Request) ClientQueue() (ms float64) {
	return MS(max(0, r.Start-r.Intent-r.Setup))
}

// FromSchedule is a_last − t_intent: what a user of an open loop feels.
func (r *Request) FromSchedule() (ms float64, ok bool) {
	if r.Chunks == 0 {
		return 0, false
	}
	return MS(r.Last - r.Intent), true
}

// FoundHistory reports whether the server had most of the conversation in its prefix cache.
func (r *Request) FoundHistory() bool {
	return r.HistoryTokens > 0 && 2*r.CachedTokens >= r.HistoryTokens
}

// MS is a duration in milliseconds.
func MS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// StreamCell is what one stream did in one slice of time.
type StreamCell struct {
	Slot     int         `json:"slot"`
	State    StreamState `json:"state"`
	Long     bool        `json:"long,omitempty"` // the long prompt that was fired on purpose
	MaxGapMS float64     `json:"max_gap_ms"`     // longest gap that closed or is still open in the slice; 0 if none
	WaitMS   float64     `json:"wait_ms"`        // while waiting: age of the request
	Tokens   int         `json:"tokens"`
	Ended    bool        `json:"ended,omitempty"`  // a request ended in the slice
	Failed   bool        `json:"failed,omitempty"` // … and failed
}

// StreamState is what a stream is doing.
type StreamState int

// States of a stream.
const (
	StreamIdle    StreamState = iota
	StreamWaiting             // sent, no token yet: queued or in prefill
	StreamDecode              // tokens are coming
)
