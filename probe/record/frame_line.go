package record

import (
	"errors"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// frameLine is one Frame without its requests, which have lines of their own
// before it. Target, Engine and GPU are only there when they changed: a reading
// is valid for several Frames and large.
type frameLine struct {
	Type     string       `json:"type"`
	Seq      uint64       `json:"seq"`
	At       millis       `json:"at_ms"`
	Slice    millis       `json:"slice_ms"`
	Stopped  bool         `json:"stopped,omitempty"`
	Target   *targetLine  `json:"target,omitempty"`
	Load     loadLine     `json:"load"`
	Client   clientLine   `json:"client"`
	Engine   *engineLine  `json:"engine,omitempty"`
	GPU      *gpuLine     `json:"gpu,omitempty"`
	Health   healthLine   `json:"health"`
	Roofline rooflineLine `json:"roofline,omitzero"`
	Streams  []cellLine   `json:"streams,omitempty"`
	Events   []eventLine  `json:"events,omitempty"`
	Err      string       `json:"error,omitempty"`
	Lost     int64        `json:"lost_frames,omitempty"` // Frames before this one that the file could not keep up with
}

// The types below that are converted as a whole have the fields of their
// originals, in the same order: a field added there does not compile here until
// it is added too.

type targetLine struct {
	Started   time.Time          `json:"started"`
	URL       string             `json:"url"`
	Host      string             `json:"host"`
	Embedded  bool               `json:"embedded"`
	Seed      uint64             `json:"seed"`
	Notes     []string           `json:"notes,omitempty"`
	ModelInfo roofline.ModelInfo `json:"model_told,omitzero"`
}

type loadLine struct {
	Asked   askedLine `json:"asked"`
	Level   int       `json:"level"`
	Settled bool      `json:"settled"`
	Max     int       `json:"max_concurrency"`

	Stage frame.Stage `json:"stage,omitempty"` // before the load
}

type askedLine struct {
	Concurrency  int     `json:"concurrency"`
	Rate         float64 `json:"rate"`
	Poisson      bool    `json:"poisson"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Prefix       string  `json:"prefix"`
}

type healthLine struct {
	Stamps         string    `json:"stamps"`
	LateMsP99      finite    `json:"late_ms_p99"`
	CPU            opt.Float `json:"cpu"`
	CoalescedShare finite    `json:"coalesced_share"`
	GCPauseMs      finite    `json:"gc_pause_ms"`
	Bottleneck     bool      `json:"bottleneck"`
	Why            string    `json:"why,omitempty"`
}

type rooflineLine struct {
	TPOTFloorMS opt.Float `json:"tpot_floor_ms"`
	TTFTFloorMS opt.Float `json:"ttft_floor_ms"`
	MBU         opt.Float `json:"mbu"`
	MFU         opt.Float `json:"mfu"`
	Assumes     string    `json:"assumes,omitempty"`
	Why         string    `json:"why,omitempty"`
}

type cellLine struct {
	Slot     int                 `json:"slot"`
	State    measure.StreamState `json:"state"`
	Long     bool                `json:"long,omitempty"`
	MaxGapMS finite              `json:"max_gap_ms"`
	WaitMS   finite              `json:"wait_ms"`
	Tokens   int                 `json:"tokens"`
	Ended    bool                `json:"ended,omitempty"`
	Failed   bool                `json:"failed,omitempty"`
}

type eventLine struct {
	At   millis          `json:"at_ms"`
	Kind frame.EventKind `json:"kind"`
	Text string          `json:"text"`
}

// fromFrame makes the line but for the parts that are only written when they
// changed.
func fromFrame(f *frame.Frame) frameLine {
	l := frameLine{
		Type: typeFrame, Seq: f.Seq, At: millis(f.At), Slice: millis(f.Slice), Stopped: f.Stopped,
		Load: loadLine{
			Asked: askedLine(f.Load.Asked), Level: f.Load.Level, Settled: f.Load.Settled,
			Max: f.Load.Max, Stage: f.Load.Stage,
		},
		Client: fromClient(&f.Client),
		Health: healthLine{
			Stamps: f.Health.Stamps, LateMsP99: finite(f.Health.LateMsP99), CPU: f.Health.CPU,
			CoalescedShare: finite(f.Health.CoalescedShare), GCPauseMs: finite(f.Health.GCPauseMs), Bottleneck: f.Health.Bottleneck, Why: f.Health.Why,
		},
		Roofline: rooflineLine(f.Roofline),
	}
	for _, c := range f.Streams {
		l.Streams = append(l.Streams, cellLine{c.Slot, c.State, c.Long, finite(c.MaxGapMS), finite(c.WaitMS), c.Tokens, c.Ended, c.Failed})
	}
	for _, e := range f.Events {
		l.Events = append(l.Events, eventLine{millis(e.At), e.Kind, e.Text})
	}
	if f.Err != nil {
		l.Err = f.Err.Error()
	}
	return l
}

// frame turns the line back; target, engine and GPU are left to the reader.
func (l *frameLine) frame() *frame.Frame {
	f := &frame.Frame{
		Seq: l.Seq, At: time.Duration(l.At), Slice: time.Duration(l.Slice), Stopped: l.Stopped,
		Load: frame.LoadState{
			Asked: frame.Load(l.Load.Asked), Level: l.Load.Level, Settled: l.Load.Settled,
			Max: l.Load.Max, Stage: l.Load.Stage,
		},
		Client: l.Client.client(),
		Health: frame.Health{
			Stamps: l.Health.Stamps, LateMsP99: float64(l.Health.LateMsP99), CPU: l.Health.CPU,
			CoalescedShare: float64(l.Health.CoalescedShare), GCPauseMs: float64(l.Health.GCPauseMs), Bottleneck: l.Health.Bottleneck, Why: l.Health.Why,
		},
		Roofline: roofline.Bounds(l.Roofline),
	}
	for _, c := range l.Streams {
		f.Streams = append(f.Streams, measure.StreamCell{
			Slot: c.Slot, State: c.State, Long: c.Long, MaxGapMS: float64(c.MaxGapMS), WaitMS: float64(c.WaitMS),
			Tokens: c.Tokens, Ended: c.Ended, Failed: c.Failed,
		})
	}
	for _, e := range l.Events {
		f.Events = append(f.Events, frame.Event{At: time.Duration(e.At), Kind: e.Kind, Text: e.Text})
	}
	if l.Err != "" {
		f.Err = errors.New(l.Err)
	}
	return f
}
