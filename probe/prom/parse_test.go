package prom

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) Page {
	t.Helper()
	p, err := Parse([]byte(text), nil)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return p
}

// values maps a label's values to the values of the samples that carry them.
func values(p Page, name, label string) map[string]float64 {
	out := map[string]float64{}
	for _, s := range p.Samples(name) {
		out[s.Labels[label]] = s.Value
	}
	return out
}

func TestRepeatedHelpAndType(t *testing.T) {
	p := parse(t, `# HELP a one
# TYPE a gauge
a{e="0"} 1
# HELP a one
# TYPE a gauge
a{e="1"} 2
vllm:num_requests_running 3
`)
	if got, want := values(p, "a", "e"), map[string]float64{"0": 1, "1": 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("a = %v, want %v", got, want)
	}
	if got := p.Samples("vllm:num_requests_running"); len(got) != 1 || got[0].Value != 3 {
		t.Errorf("running = %v, want 3", got)
	}
	if got := p.Notes(); len(got) != 1 || got[0] != "irregular page: repeated HELP or TYPE lines" {
		t.Errorf("notes = %q, want one about repeated lines", got)
	}
}

func TestOpenMetrics(t *testing.T) {
	p := parse(t, `# TYPE h histogram
h_bucket{le="1"} 1 # {trace_id="x # y"} 0.5
h_bucket{le="+Inf"} 1 1.7e9 # {trace_id="}"} 0.5 1.7e9
h_sum 1
h_count 1
h_created 1.7e9
# TYPE c counter
c_total 5
c_created 1.7e9
# TYPE i info
i_info{version="1"} 1
vllm:num_requests_running 3
# EOF`)
	if got, want := values(p, "h_bucket", "le"), map[string]float64{"1": 1, "+Inf": 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("buckets = %v, want %v", got, want)
	}
	if got, want := p.Names(), []string{"c_total", "h_bucket", "h_count", "h_sum", "i_info", "vllm:num_requests_running"}; !reflect.DeepEqual(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
	if p.Notes() != nil {
		t.Errorf("notes = %q: a regular page needs none", p.Notes())
	}
}

func TestIrregularLines(t *testing.T) {
	tests := []struct {
		name, line string
		want       Sample
	}{
		{"carriage return", "a 1\r\n", Sample{"a", map[string]string{}, 1}},
		{"no final newline", `a{x="1"} 2`, Sample{"a", map[string]string{"x": "1"}, 2}},
		{"tabs", "\ta\t{ x = \"1\" ,\ty=\"2\" }\t3\t\n", Sample{"a", map[string]string{"x": "1", "y": "2"}, 3}},
		{"label values without quotes", "a{batch_size=1,y=b c}\t0.0091", Sample{"a", map[string]string{"batch_size": "1", "y": "b c"}, 0.0091}},
		{"trailing comma", `a{x="1",} 4`, Sample{"a", map[string]string{"x": "1"}, 4}},
		{"escapes", `a{x="q\"b\\s\nn}"} 5`, Sample{"a", map[string]string{"x": "q\"b\\s\nn}"}, 5}},
		{"braces in a value", `a{x="{}"} 6`, Sample{"a", map[string]string{"x": "{}"}, 6}},
		{"three exponent digits", "a 7.6665782272e+010", Sample{"a", map[string]string{}, 76665782272}},
		{"milliseconds behind the value", "a 8 1700000000000", Sample{"a", map[string]string{}, 8}},
		{"seconds behind the value", "a 9 1700000000.5", Sample{"a", map[string]string{}, 9}},
		{"byte order mark", "\ufeffa 10", Sample{"a", map[string]string{}, 10}},
		{"quoted name", `{"a.b",x="1"} 11`, Sample{"a.b", map[string]string{"x": "1"}, 11}},
		{"negative infinity", "a -Inf", Sample{"a", map[string]string{}, math.Inf(-1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, tt.line)
			if got := p.Samples(tt.want.Name); !reflect.DeepEqual(got, []Sample{tt.want}) {
				t.Errorf("%q = %v, want %v", tt.line, got, tt.want)
			}
		})
	}
}

func TestNotANumberIsKept(t *testing.T) {
	p := parse(t, "a NaN\nb -nan\nc 1\n")
	for _, name := range []string{"a", "b"} {
		if s := p.Samples(name); len(s) != 1 || !math.IsNaN(s[0].Value) {
			t.Errorf("%s = %v, want NaN", name, s)
		}
	}
}

func TestUnreadableLinesLoseOnlyThemselves(t *testing.T) {
	p := parse(t, `a 1
b{x="1 2
c{x="1",x="2"} 3
a{x="\q"} 4
d 0,5
e
f{9z="1"} 1
z 5
`)
	if got, want := p.Names(), []string{"a", "z"}; !reflect.DeepEqual(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
	if got, want := p.Notes(), []string{"irregular page: 5 unreadable lines"}; !reflect.DeepEqual(got, want) {
		t.Errorf("notes = %q, want %q", got, want)
	}
}

func TestRepeatedSeriesCountOnce(t *testing.T) {
	p := parse(t, "a{x=\"1\"} 1\na{x=\"1\"} 1\na{x=\"2\"} 2\n")
	if got, want := values(p, "a", "x"), map[string]float64{"1": 1, "2": 2}; len(p.Samples("a")) != 2 || !reflect.DeepEqual(got, want) {
		t.Errorf("a = %v, want %v", p.Samples("a"), want)
	}
	if got := p.Notes(); len(got) != 1 || got[0] != "irregular page: 1 repeated series" {
		t.Errorf("notes = %q", got)
	}
}

func TestForeignPages(t *testing.T) {
	tests := []struct {
		body string
		want error
	}{
		{"[]", ErrJSON},
		{`{"error": "Unexpected endpoint or method. (GET /metrics)"}`, ErrJSON},
		{"\n{\n  \"cut\": ", ErrJSON},
		{`"text"`, ErrJSON},
		{"<!DOCTYPE html><html><body>a 1</body></html>", ErrHTML},
		{" \n<html>", ErrHTML},
		{"", ErrEmpty},
		{"\r\n \n", ErrEmpty},
		{"# EOF\n", ErrEmpty},
		{"Not Found\n", ErrText},
		{"upstream connect error or disconnect/reset before headers", ErrText},
	}
	for _, tt := range tests {
		if _, err := Parse([]byte(tt.body), nil); !errors.Is(err, tt.want) {
			t.Errorf("Parse(%q) = %v, want %v", tt.body, err, tt.want)
		}
	}
	_, err := Parse([]byte("no\x1b[31m healthy upstream\nx"), nil)
	if want := `text without metrics: "no[31m healthy upstream x"`; err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}

func TestWantSelectsFamilies(t *testing.T) {
	text := "h_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\nc_total 2\ng 3\nother{broken 4\n"
	asked := map[string]int{}
	p, err := Parse([]byte(text), func(family string) bool {
		asked[family]++
		return family == "h" || family == "c_total"
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Names(), []string{"c_total", "h_bucket", "h_count", "h_sum"}; !reflect.DeepEqual(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
	if p.Notes() != nil {
		t.Errorf("notes = %q: lines that nobody wants are nobody's concern", p.Notes())
	}
	if !p.Has("h_") || p.Has("g") {
		t.Error("Has must tell what was kept")
	}
	p, err = Parse([]byte(text), func(string) bool { return false })
	if err != nil || len(p.Names()) != 0 {
		t.Errorf("nothing wanted: %q, %v; want an empty page and no error", p.Names(), err)
	}
}

func TestTooManySeriesAreLeftOut(t *testing.T) {
	var b strings.Builder
	for i := range maxSamples + 3 {
		fmt.Fprintf(&b, "a{i=\"%d\"} 1\n", i)
	}
	p := parse(t, b.String())
	if got := len(p.Samples("a")); got != maxSamples {
		t.Errorf("%d series, want %d", got, maxSamples)
	}
	if got, want := p.Notes(), []string{"irregular page: 3 series beyond the first 50000 skipped"}; !reflect.DeepEqual(got, want) {
		t.Errorf("notes = %q, want %q", got, want)
	}
}

func TestFromSamples(t *testing.T) {
	a, b := Sample{"a", map[string]string{"x": "1"}, 1}, Sample{"a", map[string]string{"x": "2"}, 2}
	p := FromSamples([]Sample{a, b})
	if got := p.Samples("a"); !reflect.DeepEqual(got, []Sample{a, b}) {
		t.Errorf("samples = %v", got)
	}
	if p.Notes() != nil {
		t.Error("samples from elsewhere carry no notes")
	}
}

// BenchmarkLargePage reads a page of 2 MB of which ten series are wanted.
func BenchmarkLargePage(b *testing.B) {
	var page strings.Builder
	for i := 0; page.Len() < 2<<20; i++ {
		fmt.Fprintf(&page, "# HELP other_%d Some text about it.\n# TYPE other_%d gauge\n", i/50, i/50)
		fmt.Fprintf(&page, "other_%d{handler=\"/v1/chat/completions\",method=\"POST\",status=\"2xx\",i=\"%d\"} 27.0\n", i/50, i)
	}
	for i := range 10 {
		fmt.Fprintf(&page, "wanted{engine=\"%d\"} 1\n", i)
	}
	body := []byte(page.String())
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := Parse(body, func(family string) bool { return family == "wanted" })
		if err != nil || len(p.Samples("wanted")) != 10 {
			b.Fatal(err, len(p.Samples("wanted")))
		}
	}
}
