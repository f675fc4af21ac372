// Package record writes Frames to a file as they happen, and reads them back.
//
// The file is JSON lines: a header, then a line for every request that ended and
// a line for every Frame, in their order. Keys hold their units. Nothing in it
// is secret, and no generated text is kept.
package record

import (
	"encoding/json"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/plain"
)

// Schema names the form of the file.
const Schema = "sonde/record/1"

// Types of lines.
const (
	typeHeader  = "header"
	typeFrame   = "frame"
	typeRequest = "request"
)

// Header says what was recorded and with which settings.
type Header struct {
	Started time.Time       `json:"started,omitzero"`
	Version string          `json:"version,omitempty"` // of the program
	URL     string          `json:"url"`
	Seed    uint64          `json:"seed"`
	Command string          `json:"command,omitempty"` // "live", "bench", …
	Plan    json.RawMessage `json:"plan,omitempty"`    // settings of the command, without secrets
}

// frameLine is one Frame without its requests, which have lines of their own
// before it. Target, Engine and GPU are only there when they changed: a reading
// is valid for several Frames and large.
type frameLine struct {
	Type string `json:"type"`
	frame.Frame
	Target *frame.Target `json:"target,omitempty"`
	Engine *engineLine   `json:"engine,omitempty"`
	GPU    *gpu.Status   `json:"gpu,omitempty"`
	Err    string        `json:"error,omitempty"`
	Lost   int64         `json:"lost_frames,omitempty"` // Frames before this one that the file could not keep up with
}

// engineLine is what the engine said; latencies are seconds, as it says them.
type engineLine struct {
	engine.Status
	Reading *engine.Reading `json:"reading,omitempty"` // nil: there is none
	State   *engine.State   `json:"state,omitempty"`   // nil: recorded before states were
}

// requestLine is one request that ended. Instants are since the session began;
// those of tokens that never came are null, and so are counts of a prompt that
// nobody counted.
type requestLine struct {
	Type string `json:"type"`
	measure.Request
	First        *time.Duration `json:"first_ms"`
	Answer       *time.Duration `json:"answer_ms"`
	Last         *time.Duration `json:"last_ms"`
	InTokens     *int           `json:"input_tokens"`
	CachedTokens *int           `json:"cached_input_tokens"`
}

// known is v where it is known, else null.
func known[T any](v *T, ok bool) *T {
	if !ok {
		return nil
	}
	return v
}

// orZero is v, or 0 for null.
func orZero[T any](v *T) T {
	if v == nil {
		return *new(T)
	}
	return *v
}

func fromRequest(r *measure.Request) *requestLine {
	anyToken, counted := r.Chunks > 0, r.InTokens > 0
	return &requestLine{
		Type: typeRequest, Request: *r,
		First: known(&r.First, anyToken), Answer: known(&r.Answer, r.HaveAnswer), Last: known(&r.Last, anyToken),
		InTokens: known(&r.InTokens, counted), CachedTokens: known(&r.CachedTokens, counted),
	}
}

func (l *requestLine) request() measure.Request {
	r := l.Request
	r.First, r.Answer, r.Last = orZero(l.First), orZero(l.Answer), orZero(l.Last)
	r.InTokens, r.CachedTokens = orZero(l.InTokens), orZero(l.CachedTokens)
	return r
}

func fromEngine(s *engine.Status) *engineLine {
	l := &engineLine{Status: *s, State: &s.State}
	l.Identity.MetricsURL = withoutSecrets(l.Identity.MetricsURL)
	l.Identity.GPUURL = withoutSecrets(l.Identity.GPUURL)
	if s.Have {
		l.Reading = &s.Reading
	}
	return l
}

func (l *engineLine) status() engine.Status {
	s := l.Status
	s.Have, s.Reading = l.Reading != nil, orZero(l.Reading)
	switch { // derived for recordings without a state
	case l.State != nil:
		s.State = *l.State
	case l.Why != "":
		s.State = engine.Failed
	case s.Have:
		s.State = engine.Ready
	default:
		s.State = engine.Connecting
	}
	return s
}

func fromGPU(s gpu.Status) *gpu.Status {
	s.Source, s.Why = withoutSecrets(s.Source), s.Reason()
	if s.GPUs == nil {
		s.GPUs = []gpu.Reading{}
	}
	return &s
}

// withoutSecrets redacts every address in a text.
func withoutSecrets(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		if strings.Contains(w, "://") {
			words[i] = plain.RedactURL(w)
		}
	}
	return strings.Join(words, " ")
}
