package record

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/arrivals"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/roofline"
)

// memory is a file in memory.
type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

// fill sets every field of v to a value of its own, so that a field that a
// recording forgets shows up as a difference.
func fill(v reflect.Value, n *int) {
	*n++
	switch x := v.Addr().Interface().(type) {
	case *opt.Float:
		*x = opt.Of(float64(*n) + 0.5)
		return
	case *time.Time:
		*x = time.Unix(int64(*n), 500).UTC()
		return
	case *error:
		*x = errors.New("fault")
		return
	case **roofline.Roofline:
		return // Limits are not recorded
	case *gpu.Scope:
		*x = gpu.Scope{Kind: gpu.OfMachine, Replica: "replica"}
		return
	case *gpu.State:
		return // recorded in place of the reason: see gpu.Status.SetReason
	case *gpu.Doubts:
		*x = gpu.DoubtCounters | gpu.DoubtPower
		return
	case *arrivals.Process:
		*x = arrivals.Process{CV: 2.5}
		return
	case *engine.State:
		*x = engine.Failed
		return
	case *engine.Histogram:
		*x = engine.Histogram{Bounds: []float64{0.5, math.Inf(1)}, Counts: []float64{1, float64(*n)}, Sum: 2.5, Count: float64(*n)}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
		if r, ok := v.Addr().Interface().(*gpu.Reading); ok {
			r.At = time.Time{} // not recorded
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("word " + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(*n) + 0.25)
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		v.SetInt(int64(*n)*1_000_000 + 1) // as a duration: not a whole millisecond
	}
}

func record(t *testing.T, frames ...*frame.Frame) []byte {
	t.Helper()
	file := &memory{}
	w := NewWriter(file, Header{URL: "http://h/v1", Seed: 7})
	for _, f := range frames {
		w.Add(f)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestEveryFieldOfAFrameSurvives(t *testing.T) {
	var f frame.Frame
	n := 0
	fill(reflect.ValueOf(&f).Elem(), &n)
	raw := record(t, &f)
	head, frames, err := Read(bytes.NewReader(raw))
	if err != nil || len(frames) != 1 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	if head.URL != "http://h/v1" || head.Seed != 7 {
		t.Errorf("header %+v", head)
	}
	if !reflect.DeepEqual(&f, frames[0]) {
		t.Errorf("wrote\n%+v\nread\n%+v", f, *frames[0])
	}
}

func TestAnEmptyFrameSurvives(t *testing.T) {
	_, frames, err := Read(bytes.NewReader(record(t, &frame.Frame{Seq: 1})))
	if err != nil || len(frames) != 1 || !reflect.DeepEqual(frames[0], &frame.Frame{Seq: 1}) {
		t.Fatalf("%+v, %v", frames, err)
	}
}

func TestUnchangedReadingsAreWrittenOnce(t *testing.T) {
	a, b, c := &frame.Frame{Seq: 1}, &frame.Frame{Seq: 2}, &frame.Frame{Seq: 3}
	for _, f := range []*frame.Frame{a, b} {
		f.Engine.Have = true
		f.Engine.Reading.Running = opt.Of(5)
	}
	c.Engine.Why = "gone"
	raw := record(t, a, b, c)
	if n := strings.Count(string(raw), `"engine":`); n != 2 {
		t.Errorf("%d engine parts, want 2:\n%s", n, raw)
	}
	_, frames, err := Read(bytes.NewReader(raw))
	if err != nil || len(frames) != 3 {
		t.Fatal(len(frames), err)
	}
	if !reflect.DeepEqual(frames[1].Engine, b.Engine) || frames[2].Engine.Why != "gone" || frames[2].Engine.Have {
		t.Errorf("read %+v and %+v", frames[1].Engine, frames[2].Engine)
	}
}

// What JSON cannot hold is null on disk and unknown when it is read, never 0.
func TestNumbersThatJSONCannotHold(t *testing.T) {
	f := &frame.Frame{Seq: 1, Requests: []measure.Request{{ID: 1, GapsMS: []float32{float32(math.Inf(1)), 3}}}}
	f.Client.TTFT = measure.Summary{N: 1, Mean: math.NaN(), P50: 7}
	f.Client.OutTokensPerS = math.Inf(1)
	f.Client.SliceGaps = []float32{float32(math.NaN()), 2}
	f.Health.LateMsP99 = math.NaN()
	f.Streams = []measure.StreamCell{{MaxGapMS: math.NaN()}}
	f.Engine.Have = true
	f.Engine.Reading.Running = opt.Float{V: math.NaN(), OK: true}
	f.Engine.Reading.TTFT = engine.Histogram{Bounds: []float64{1, math.Inf(1)}, Counts: []float64{1, 2}, Sum: math.NaN(), Count: 2}
	f.Engine.Reading.KVByRank = []engine.RankFill{{Fill: math.NaN()}}
	raw := record(t, f)
	for _, want := range []string{
		`"mean":null`, `"p50":7`, `"output_tokens_per_s":null`, `"slice_gaps_ms":[null,2]`, `"gaps_ms":[null,3]`,
		`"late_ms_p99":null`, `"max_gap_ms":null`, `"running":null`, `"ttft_s":null`, `"fill":null`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
	_, frames, err := Read(bytes.NewReader(raw))
	if err != nil || len(frames) != 1 {
		t.Fatal(err)
	}
	got := frames[0]
	for what, v := range map[string]float64{
		"mean": got.Client.TTFT.Mean, "rate": got.Client.OutTokensPerS, "gap of the slice": float64(got.Client.SliceGaps[0]),
		"gap": float64(got.Requests[0].GapsMS[0]), "lateness": got.Health.LateMsP99, "cell": got.Streams[0].MaxGapMS, "fill": got.Engine.Reading.KVByRank[0].Fill,
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s is %v", what, v)
		}
	}
	if got.Engine.Reading.Running.OK || !got.Engine.Reading.TTFT.IsZero() || got.Client.SliceGaps[1] != 2 || got.Client.TTFT.P50 != 7 {
		t.Errorf("read %+v", got)
	}
}

func TestNoCredentialsInAddresses(t *testing.T) {
	f := &frame.Frame{}
	f.Engine.Identity.MetricsURL = "http://user:sk-1@h:8000/metrics?token=sk-2"
	f.Engine.Identity.GPUURL = "https://sk-3@h/metrics"
	f.GPU.Source = "dcgm http://u:sk-4@h/metrics"
	raw := string(record(t, f))
	if strings.Contains(raw, "sk-") {
		t.Errorf("a secret is in the file:\n%s", raw)
	}
	if !strings.Contains(raw, "h:8000/metrics?token=") || !strings.Contains(raw, "dcgm http://h/metrics") {
		t.Errorf("the address itself is gone:\n%s", raw)
	}
}

// A request that was refused has no instants of tokens, and nobody counted its
// prompt: the line says null, not 0. Reading it back changes nothing.
func TestWhatARequestLacksIsNull(t *testing.T) {
	refused := measure.Request{ID: 1, Class: "http_5xx", Intent: time.Millisecond, Start: 2 * time.Millisecond, End: 3 * time.Millisecond, RequestedIn: 8, GapsMS: []float32{}}
	fine := measure.Request{ID: 2, Chunks: 1, First: 5 * time.Millisecond, Last: 6 * time.Millisecond, InTokens: 8, OutTokens: 1, GapsMS: []float32{}}
	f := &frame.Frame{Seq: 1, Requests: []measure.Request{refused, fine}}
	raw := record(t, f)
	lines := strings.Split(string(raw), "\n")
	for i, want := range [][]string{
		{`"first_ms":null`, `"answer_ms":null`, `"last_ms":null`, `"end_ms":3`, `"input_tokens":null`, `"cached_input_tokens":null`, `"output_tokens":0`},
		{`"first_ms":5`, `"answer_ms":null`, `"last_ms":6`, `"input_tokens":8`, `"cached_input_tokens":0`, `"output_tokens":1`},
	} {
		for _, part := range want {
			if !strings.Contains(lines[1+i], part) {
				t.Errorf("no %s in %s", part, lines[1+i])
			}
		}
	}
	_, frames, err := Read(bytes.NewReader(raw))
	if err != nil || len(frames) != 1 || !reflect.DeepEqual(frames[0].Requests, f.Requests) {
		t.Errorf("read %+v, %v", frames, err)
	}
}
