package crew

import (
	"slices"
	"time"

	"sonde/probe/collect"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// sentReport is a report that the operator has not seen yet.
type sentReport struct {
	sequence uint64
	data     []byte
	at       time.Time // when it was last sent
}

// unseenMost bounds them: half a minute's.
const unseenMost = 120

// add reports a Frame.
func (w *worker) add(operator string, f *frame.Frame) {
	w.mu.Lock()
	if w.operator != operator {
		w.mu.Unlock()
		return
	}
	w.begun = int64(f.Client.Sent)
	shift := w.shift
	w.mu.Unlock()
	c := &f.Client
	r := Report{At: f.At + shift, Health: f.Health, Slice: collect.Slice{
		Client: measure.Client{
			InFlight: c.InFlight, Prefill: c.Prefill, Thinking: c.Thinking, OldestWaiting: c.OldestWaiting, Retrying: c.Retrying, RetryAt: c.RetryAt + shift,
			SliceTTFT: c.SliceTTFT, SliceGaps: c.SliceGaps, SliceGapCounts: c.SliceGapCounts, SliceInTokens: c.SliceInTokens, SliceOutTokens: c.SliceOutTokens,
		},
		Cells: f.Streams, Requests: shifted(f.Requests, shift),
	}}
	for _, e := range f.Events {
		if e.Kind == frame.EventNote {
			r.Notes = append(r.Notes, e.Text)
		}
	}
	w.report(r)
}

// shifted are requests on another clock. Frames are shared: theirs stay as they are.
func shifted(list []measure.Request, by time.Duration) []measure.Request {
	out := make([]measure.Request, len(list))
	for i := range list {
		out[i] = list[i]
		shift(&out[i], by)
	}
	return out
}

// report publishes a report. It is kept while the connection is down.
func (w *worker) report(r Report) {
	w.mu.Lock()
	w.sequence++
	r.Worker, r.Name, r.Operator, r.Sequence = w.id, w.opt.Name, w.operator, w.sequence
	r.State, r.Why, r.Begun = w.state, w.why, w.begun
	w.mu.Unlock()
	data, err := encode(r)
	if err != nil {
		w.opt.Say(err.Error())
		return
	}
	if r.Operator != "" {
		w.mu.Lock()
		w.unseen = append(w.unseen, sentReport{r.Sequence, data, time.Now()})
		w.unseen = w.unseen[max(0, len(w.unseen)-unseenMost):]
		w.mu.Unlock()
	}
	w.publish(data)
}

func (w *worker) publish(data []byte) {
	if err := w.opt.Conn.Publish(reportSubject(w.opt.Run, w.id), data); err != nil {
		w.opt.Say("NATS: " + err.Error())
	}
}

// repeat sends again what the operator should have seen by now.
func (w *worker) repeat(seen uint64) {
	w.mu.Lock()
	var again [][]byte
	w.unseen = slices.DeleteFunc(w.unseen, func(s sentReport) bool { return s.sequence <= seen })
	for i := range w.unseen {
		if s := &w.unseen[i]; time.Since(s.at) > repeatAfter && seen > 0 {
			s.at = time.Now()
			again = append(again, s.data)
		}
	}
	w.mu.Unlock()
	for _, data := range again {
		w.publish(data)
	}
}
