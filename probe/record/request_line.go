package record

import (
	"time"

	"sonde/probe/measure"
)

// requestLine is one request that ended. Instants are since the session began;
// those of tokens that never came are null, and so are counts of a prompt that
// nobody counted.
type requestLine struct {
	Type  string        `json:"type"`
	ID    uint64        `json:"id"`
	Slot  int           `json:"slot"`
	Level int           `json:"level"`
	Long  bool          `json:"long,omitempty"`
	Class measure.Class `json:"class,omitempty"` // "" is success
	Error string        `json:"error,omitempty"`

	Intent   millis  `json:"intent_ms"`
	Start    millis  `json:"start_ms"`
	First    *millis `json:"first_ms"`
	Answer   *millis `json:"answer_ms"`
	Last     *millis `json:"last_ms"`
	End      millis  `json:"end_ms"`
	Setup    millis  `json:"setup_ms"`
	Reused   bool    `json:"reused"`
	Streamed bool    `json:"streamed"`
	Answered bool    `json:"answered"`
	Excluded bool    `json:"excluded,omitempty"`

	Chunks      int                 `json:"chunks"`
	Coalesced   int                 `json:"coalesced"`
	AskedIn     int                 `json:"asked_input_tokens"`
	AskedOut    int                 `json:"asked_output_tokens"`
	In          *int                `json:"input_tokens"`
	Out         int                 `json:"output_tokens"`
	Reasoning   int                 `json:"reasoning_tokens"`
	Cached      *int                `json:"cached_input_tokens"`
	FirstTokens int                 `json:"first_chunk_tokens"`
	Source      measure.TokenSource `json:"token_source,omitempty"`
	Finish      string              `json:"finish,omitempty"`
	Gaps        gaps                `json:"gaps_ms"`
	Note        string              `json:"note,omitempty"`
}

// known is v where it is known, else null.
func known[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}

// orZero is v, or 0 for null.
func orZero[T any](v *T) T {
	if v == nil {
		return *new(T)
	}
	return *v
}

func fromRequest(r *measure.Request) requestLine {
	anyToken, counted := r.Chunks > 0, r.InTokens > 0
	return requestLine{
		Type: typeRequest, ID: r.ID, Slot: r.Slot, Level: r.Level, Long: r.Long, Class: r.Class, Error: r.Error,
		Intent: millis(r.Intent), Start: millis(r.Start), First: known(millis(r.First), anyToken),
		Answer: known(millis(r.Answer), r.HaveAnswer), Last: known(millis(r.Last), anyToken),
		End: millis(r.End), Setup: millis(r.Setup),
		Reused: r.Reused, Streamed: r.Streamed, Answered: r.HaveAnswer, Excluded: r.Excluded,
		Chunks: r.Chunks, Coalesced: r.Coalesced, AskedIn: r.AskedIn, AskedOut: r.AskedOut,
		In: known(r.InTokens, counted), Out: r.OutTokens, Reasoning: r.ReasoningTokens, Cached: known(r.CachedTokens, counted),
		FirstTokens: r.FirstTokens, Source: r.Source, Finish: r.Finish, Gaps: r.GapsMS, Note: r.Note,
	}
}

func (l *requestLine) request() measure.Request {
	return measure.Request{
		ID: l.ID, Slot: l.Slot, Level: l.Level, Long: l.Long, Class: l.Class, Error: l.Error,
		Intent: time.Duration(l.Intent), Start: time.Duration(l.Start), First: time.Duration(orZero(l.First)),
		Answer: time.Duration(orZero(l.Answer)), Last: time.Duration(orZero(l.Last)), End: time.Duration(l.End), Setup: time.Duration(l.Setup),
		Reused: l.Reused, Streamed: l.Streamed, HaveAnswer: l.Answered, Excluded: l.Excluded,
		Chunks: l.Chunks, Coalesced: l.Coalesced, AskedIn: l.AskedIn, AskedOut: l.AskedOut,
		InTokens: orZero(l.In), OutTokens: l.Out, ReasoningTokens: l.Reasoning, CachedTokens: orZero(l.Cached),
		FirstTokens: l.FirstTokens, Source: l.Source, Finish: l.Finish, GapsMS: l.Gaps, Note: l.Note,
	}
}
