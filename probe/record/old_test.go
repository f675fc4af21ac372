package record

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"testing"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// every_field.jsonl was written by an earlier version, with a value of its own in every
// field. Read and written again it is the same, except for what later versions added.
func TestARecordingOfAnEarlierVersionKeepsEveryField(t *testing.T) {
	old, err := os.ReadFile("testdata/every_field.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, frames, err := Read(bytes.NewReader(old))
	if err != nil || len(frames) != 1 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	before, after := bytes.Split(bytes.TrimSpace(old), []byte("\n")), bytes.Split(bytes.TrimSpace(record(t, frames[0])), []byte("\n"))
	if len(before) != len(after) {
		t.Fatalf("%d lines became %d", len(before), len(after))
	}
	for i := 1; i < len(before); i++ { // after the header, which a test makes up
		var b, a any
		if err := json.Unmarshal(before[i], &b); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(after[i], &a); err != nil {
			t.Fatal(err)
		}
		sameValues(t, "line", b, a)
	}
}

// sameValues reports what of before is missing or other in after.
func sameValues(t *testing.T, path string, before, after any) {
	t.Helper()
	b, isObject := before.(map[string]any)
	a, both := after.(map[string]any)
	if !isObject || !both {
		if list, ok := before.([]any); ok && len(list) > 0 {
			if other, ok := after.([]any); ok && len(list) == len(other) {
				for i := range list {
					sameValues(t, path, list[i], other[i])
				}
				return
			}
		}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s was %v, is %v", path, before, after)
		}
		return
	}
	for key, v := range b {
		w, there := a[key]
		if !there {
			t.Errorf("%s.%s is gone", path, key)
			continue
		}
		sameValues(t, path+"."+key, v, w)
	}
}

// sim.jsonl is the beginning of a run against the embedded engine: 4 streams, answers of
// 128 tokens. The figures were read off the file.
func TestARecordingOfAnEarlierVersionPlays(t *testing.T) {
	f, err := Open("testdata/sim.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if first, last := f.Span(); first != 1925135 || last != 1502865013 || f.Header().Seed != 7 {
		t.Errorf("from %d to %d, seed %d", first, last, f.Header().Seed)
	}
	r, err := f.From(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var frames []*frame.Frame
	for {
		f, err := r.Next()
		if err != nil {
			break
		}
		frames = append(frames, f)
	}
	if len(frames) != 4 || len(frames[3].Requests) != 4 {
		t.Fatalf("%d frames", len(frames))
	}
	checkRequest(t, &frames[3].Requests[0])
	checkFrame(t, frames[3])
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func checkRequest(t *testing.T, r *measure.Request) {
	t.Helper()
	ttft, _ := r.TTFT()
	near(t, "TTFT", ttft, 94.013324)
	e2e, _ := r.E2E()
	near(t, "E2E", e2e, 1364.304187)
	if r.ID != 4 || r.Class != measure.OK || r.Intent != 17608425 || r.Setup != 821729*time.Nanosecond || r.Chunks != 128 || r.InTokens != 256 ||
		r.OutTokens != 128 || !r.HaveAnswer || !r.Streamed || r.Source != measure.Usage || r.Finish != "length" || len(r.GapsMS) != 127 || r.GapsMS[0] != 9.798 {
		t.Errorf("request %+v", r)
	}
}

func checkFrame(t *testing.T, f *frame.Frame) {
	t.Helper()
	near(t, "TTFT p95", f.Client.TTFT.P95, 94.9785423)
	near(t, "TPOT mean", f.Client.TPOT.Mean, 10.117613966535433)
	if f.Seq != 7 || f.Slice != 250890081 || f.Load.Level != 1 || f.Load.Requested != (frame.Load{Concurrency: 4, Arrivals: arrivals.Poisson, InputTokens: 256, OutputTokens: 128, Prefix: "unique"}) ||
		f.Client.InFlight != 4 || f.Client.OK != 4 || f.Client.Window != 30*time.Second {
		t.Errorf("load %+v, client %+v", f.Load, f.Client)
	}
	e := &f.Engine
	near(t, "KV fill", e.Reading.KVFill.V, 0.04296875)
	if e.State != engine.Ready || !e.Have || e.Identity.Kind != "sonde-sim" || e.Reading.GenerationTokens.V != 28137 || e.Reading.Ranks != 1 {
		t.Errorf("engine %+v", e)
	}
	if h := e.Reading.TTFT; h.Count != 680 || len(h.Bounds) != 23 || h.Bounds[4] != 0.04 || h.Counts[4] != 560 || !math.IsInf(h.Bounds[22], 1) {
		t.Errorf("the engine's TTFT %+v", h)
	}
	if len(f.GPU.GPUs) != 1 || f.GPU.GPUs[0].Name != "simulated A100-SXM4-80GB" || !f.GPU.GPUs[0].SM.OK || len(f.Streams) != 4 {
		t.Errorf("GPU %+v, %d streams", f.GPU, len(f.Streams))
	}
}
