package trace

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/record"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const ms = time.Millisecond

// Each format holds the same three requests, not in their order, with a time of its own at
// the beginning. The lines have the form of the published files.
func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		blocks bool
	}{
		"mooncake": {`{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}
{"timestamp": 30535, "input_length": 100, "output_length": 26, "hash_ids": [46]}

{"timestamp": 27982, "input_length": 6472, "output_length": 500, "hash_ids": [46, 2353, 2354]}
`, true},
		"azure": {"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.4820000,6955,52\r\n2023-11-16 18:17:06.5350000,100,26\r\n2023-11-16 18:17:03.9820000,6472,500\r\n", false},
		"azure of 2024": {"TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,6955,52\n2024-05-10 00:00:03.062930+00:00,100,26\n" +
			"2024-05-10 00:00:00.509930+00:00,6472,500\n", false},
		"burstgpt": {"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,6955,52,7007,Conversation log\n" +
			"8.053,ChatGPT,100,26,126,API log\n5.5,GPT-4,6472,500,6972,Conversation log\n", false},
		"other columns": {"\ufeffLog Type,Response tokens,timestamp,Request tokens\n\"a, b\",52.0,5,6955.0\nx,26,8.053,100\nx,500,5.5,6472\n", false},
	} {
		got, err := Read(write(t, c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []arrivals.Arrival{{At: 0, In: 6955, Out: 52}, {At: 500 * ms, In: 6472, Out: 500}, {At: 3053 * ms, In: 100, Out: 26}}
		if c.blocks {
			want[0].Blocks, want[1].Blocks, want[2].Blocks = []uint64{46, 47}, []uint64{46, 2353, 2354}, []uint64{46}
		}
		if !reflect.DeepEqual(got.Arrivals, want) {
			t.Errorf("%s: %+v", name, got.Arrivals)
		}
		if got.Name != "trace.txt" || got.Length() != 3053*ms || math.Abs(got.Rate()-3/3.053) > 1e-9 {
			t.Errorf("%s: %s, %s, %v per second", name, got.Name, got.Length(), got.Rate())
		}
		if in, out := got.Means(); in != 4509 || out != 193 { // 13527/3, 578/3
			t.Errorf("%s: mean lengths %d, %d", name, in, out)
		}
	}
}

func TestSevenDigitsOfASecond(t *testing.T) {
	got, err := Read(write(t, "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,1,1\n2023-11-16 18:17:04.0000001,1,1\n"))
	if err != nil || got.Arrivals[1].At != 20040100 {
		t.Errorf("%v, %v", got, err)
	}
}

// A request that failed is sent with the lengths that it had asked for.
func TestOurRecordings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := record.NewWriter(file, record.Header{URL: "http://h/v1"})
	w.Add(&frame.Frame{Seq: 1, At: 5 * time.Second, Requests: []measure.Request{
		{ID: 1, Intent: 3 * time.Second, InTokens: 260, OutTokens: 100, RequestedIn: 256, RequestedOut: 128, Chunks: 1},
		{ID: 2, Intent: 2 * time.Second, Class: measure.RateLimited, RequestedIn: 512, RequestedOut: 64},
	}})
	w.Add(&frame.Frame{Seq: 2, At: 6 * time.Second, Requests: []measure.Request{{ID: 3, Intent: 5 * time.Second, InTokens: 8, OutTokens: 9, Chunks: 1}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	want := []arrivals.Arrival{{At: 0, In: 512, Out: 64}, {At: time.Second, In: 260, Out: 100}, {At: 3 * time.Second, In: 8, Out: 9}}
	if err != nil || !reflect.DeepEqual(got.Arrivals, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRequestsWithoutTokens(t *testing.T) {
	got, err := Read(write(t, "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,0,472,API log\n6,ChatGPT,1,2,3,API log\n"))
	if err != nil || got.Arrivals[0].Out != 1 || got.Empty != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBadTraces(t *testing.T) {
	azure := "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	burst := "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
	good := `{"timestamp": 1, "input_length": 2, "output_length": 3}` + "\n"
	for text, want := range map[string]string{
		"":                                    "trace.txt is empty",
		"\n\n":                                "trace.txt is empty",
		"hello\n":                             "trace.txt is no trace of a known kind: JSON lines",
		"a,b,c\n1,2,3\n":                      "trace.txt is no trace of a known kind: JSON lines",
		"\x1f\x8bxx":                          "unpack it first",
		azure:                                 "holds no requests",
		good + "{\n":                          "line 2: invalid JSON",
		good + `{"timestamp": 1}`:             `line 2: needs whole numbers such as {"timestamp": 27482`,
		good + `{"timestamp": "x"}`:           "line 2: needs whole numbers",
		good + `{"prompt": "hello"}`:          "line 2: needs whole numbers",
		good + "\nx,y\n":                      "line 3: invalid JSON",
		azure + "2023-11-16 18:17:03,1,2,3\n": "trace.txt, line 2: has 4 columns instead of 3",
		azure + "2023-11-16 18:17:03,1,x\n":   `line 2: invalid number of tokens "x"`,
		azure + "2023-11-16 18:17:03,1.5,2\n": `line 2: invalid number of tokens "1.5"`,
		azure + "2023-11-16 18:17:03,-1,2\n":  "line 2: -1 tokens: must be 0 to",
		azure + "yesterday,1,2\n":             `line 2: invalid time "yesterday": it must look like 2023-11-16`,
		burst + "soon,m,1,2,3,l\n":            `line 2: invalid time in seconds "soon"`,
		burst + "1e300,m,1,2,3,l\n":           "line 2: the timestamp is out of range",
		`{"timestamp": 1, "input_length": 99999999, "output_length": 3}`: "line 1: 99999999 tokens",
	} {
		got, err := Read(write(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v; want an error in one line with %q", text, got, err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "cannot be read: no such file") {
		t.Error(err)
	}
}

// some is a trace of a request per 100 ms with a block of its own, and one that all have.
func some(n int) *arrivals.Trace {
	t := &arrivals.Trace{Name: "x"}
	for i := range n {
		t.Arrivals = append(t.Arrivals, arrivals.Arrival{At: time.Duration(i) * 100 * ms, In: 600, Out: 1, Blocks: []uint64{1, uint64(i + 2)}})
	}
	return t
}

func TestSpeedAndFrom(t *testing.T) {
	got := Adjustment{From: 250 * ms, Scale: 1, Speed: 4}.Apply(some(10))
	if len(got.Arrivals) != 7 || got.Arrivals[0].At != 0 || got.Arrivals[1].At != 25*ms || got.Arrivals[0].Blocks[1] != 5 {
		t.Errorf("%d arrivals: %+v", len(got.Arrivals), got.Arrivals[:2])
	}
	if got := (Adjustment{From: time.Hour, Scale: 1, Speed: 1}).Apply(some(10)); len(got.Arrivals) != 0 {
		t.Errorf("%d arrivals after the end", len(got.Arrivals))
	}
}

// Of n requests that are each kept with probability p, n·p ± 4·√(n·p·(1−p)) are left but for
// one case in 16,000. Of copies, each has a prefix of its own that it shares with its like.
func TestScale(t *testing.T) {
	const n = 10_000
	for _, scale := range []float64{0.25, 1, 1.5, 3} {
		got := Adjustment{Scale: scale, Speed: 1, Seed: 5}.Apply(some(n))
		share := scale - math.Floor(scale)
		if off := 4 * math.Sqrt(n*share*(1-share)); math.Abs(float64(len(got.Arrivals))-n*scale) > off {
			t.Errorf("scale %v: %d arrivals, want %v ± %.0f", scale, len(got.Arrivals), n*scale, off)
		}
		prefixes := map[uint64]int{}
		last := time.Duration(0)
		for _, a := range got.Arrivals {
			if a.At < last {
				t.Fatalf("scale %v: arrivals go back in time", scale)
			}
			last = a.At
			prefixes[a.Blocks[0]]++
		}
		if want := int(math.Ceil(scale)); len(prefixes) != want {
			t.Errorf("scale %v: %d different prefixes, want %d", scale, len(prefixes), want)
		}
		again := Adjustment{Scale: scale, Speed: 1, Seed: 5}.Apply(some(n))
		if !reflect.DeepEqual(got, again) {
			t.Errorf("scale %v: the same seed makes another trace", scale)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,1,1\n")
	f.Add(`{"timestamp": 1, "input_length": 2, "output_length": 3, "hash_ids": [1]}`)
	f.Add(`{"type":"header","schema":"` + record.Schema + `"}` + "\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parse(strings.NewReader(text))
		if (err == nil) != (len(list) > 0) {
			t.Errorf("%d arrivals, %v", len(list), err)
		}
		for _, a := range list {
			if a.In < 0 || a.Out < 0 {
				t.Error(fmt.Sprint(a))
			}
		}
	})
}
