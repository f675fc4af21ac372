package prom

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// FuzzParse checks that no page makes Parse panic, and that every sample it gives
// comes from a line of the page.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a 1", "# TYPE a gauge\na{x=\"1\"} 2 # {} 3\n", "{\"a\",b=\"c\"} 1", "a{b=c,d} 1\r\n", "[]", "<", "{\"", "a{x=\"\\", "a{=\"\"} 1\na{} NaN",
		"# HELP", "# TYPE ", "a\xff{x=\"\xff\"} 1", "a_created 1\na -nan",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := Parse(body, nil)
		if err != nil && len(p.Names()) > 0 {
			t.Fatalf("samples beside the error %v", err)
		}
		lines := strings.Count(string(body), "\n") + 1
		n := 0
		for _, name := range p.Names() {
			n += len(p.Samples(name))
		}
		if n > lines {
			t.Fatalf("%d samples from %d lines", n, lines)
		}
	})
}

// FuzzAgainstExpfmt compares with the format's own strict parser: where that reads
// a line without TYPE as a whole, this one reads the same.
func FuzzAgainstExpfmt(f *testing.F) {
	for _, s := range []string{
		"a 1", `a{x="1",y="\\ \" \n"} -2.5e+010`, `a{ x = "1" , } 3 1700000000000`, `{"a.b","x y"="1"} NaN`, `a{} +Inf`, "a{x=\"}\"} 0x1p-2",
		`a{x="1",x="2"} 1`, `a{9="1"} 1`, `a{"a"="1"} 1`, `a{"b"} 1`, `{"a","b"} 1`, `{x="1"} 1`, `{} 1`, `{"a",} 1`, "9a 1", "a:b{c:d=\"1\"} 1", "a\t1", "a{x=\"\xff\"} 1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n\r") || strings.TrimSpace(line) != line || strings.Contains(line, "_created") || line == "" || !nameBytes[line[0]] && !strings.HasPrefix(line, `{"`) {
			t.Skip()
		}
		if strings.Contains(line, `"`) && !strings.Contains(line, "{") {
			t.Skip() // expfmt reads A""0 as A 0
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(line + "\n"))
		if err != nil || len(families) != 1 {
			t.Skip() // it may be readable all the same
		}
		page, err := Parse([]byte(line), nil)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for name, family := range families {
			m := family.GetMetric()[0]
			want := map[string]string{}
			for _, l := range m.GetLabel() {
				want[l.GetName()] = l.GetValue()
			}
			got := page.Samples(name)
			if len(got) != 1 || !reflect.DeepEqual(got[0].Labels, want) || !same(got[0].Value, m.GetUntyped().GetValue()) {
				t.Fatalf("%q: %+v, want %s %q %v", line, got, name, want, m.GetUntyped().GetValue())
			}
		}
	})
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// FuzzParserAgain checks that what a parser remembers of one page does not change
// what it reads from the next.
func FuzzParserAgain(f *testing.F) {
	f.Add([]byte("# TYPE a gauge\na{x=\"1\"} 1\nb 2\nb_created 3"), []byte("a{x=\"1\"} 1\na{x=\"1\"} 2\n# HELP a\n# TYPE a counter"))
	f.Add([]byte("{\"a\",x=\"1\"} 1"), []byte("a{\"a\",x=\"1\"} 1\nc{\"a\",x=\"1\"} 1"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		p := NewParser(nil)
		if _, err := p.Parse(first); err != nil && bytes.Contains([]byte(err.Error()), []byte("panic")) {
			t.Fatal(err)
		}
		got, gotErr := p.Parse(second)
		want, wantErr := Parse(second, nil)
		if (gotErr == nil) != (wantErr == nil) || !samePage(got, want) {
			t.Fatalf("%q after %q:\n%+v %v\n%+v %v", second, first, got, gotErr, want, wantErr)
		}
	})
}

func samePage(a, b Page) bool {
	for _, name := range a.Names() {
		x, y := a.Samples(name), b.Samples(name)
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !reflect.DeepEqual(x[i].Labels, y[i].Labels) || !same(x[i].Value, y[i].Value) {
				return false
			}
		}
	}
	return reflect.DeepEqual(a.Names(), b.Names()) && reflect.DeepEqual(a.Notes(), b.Notes()) && a.Created() == b.Created()
}
