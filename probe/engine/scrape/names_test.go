package scrape

import (
	"testing"

	"sonde/probe/engine"
	"sonde/probe/engine/kinds"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// oneTable reads one field of a page by one list of ways.
func oneTable(t *testing.T, list kinds.Ways, page string) (opt.Float, string) {
	t.Helper()
	parsed, err := prom.Parse([]byte(page), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &kinds.Kind{Table: &kinds.Table{Prefixes: []string{"e_"}, Fields: map[engine.Field]kinds.Ways{engine.FieldRunning: list}}}
	s, err := read(parsed, []*kinds.Kind{k}, "", parsedAt)
	if err != nil {
		t.Fatal(err)
	}
	return s.Running, s.Origins[engine.FieldRunning].Source
}

func TestWaysToReadAField(t *testing.T) {
	tests := []struct {
		name   string
		list   kinds.Ways
		page   string
		want   opt.Float
		source string
	}{
		{"the newer name", kinds.Names("new", "old"), "e_old 1\ne_new 2\n", opt.Of(2), "e_new"},
		{"the older name", kinds.Names("new", "old"), "e_old 1\n", opt.Of(1), "e_old"},
		{"a label", kinds.Names("a{kind=x}"), "e_a{kind=\"x\"} 1\ne_a{kind=\"y\"} 2\n", opt.Of(1), "e_a{kind=x}"},
		{"one of two labels", kinds.Names("a{kind=x|z,n=1}"),
			"e_a{kind=\"x\",n=\"1\"} 1\ne_a{kind=\"y\",n=\"1\"} 2\ne_a{kind=\"z\",n=\"1\"} 4\ne_a{kind=\"z\",n=\"2\"} 8\n", opt.Of(5), "e_a{kind=x|z,n=1}"},
		{"no such label", kinds.Names("a{kind=q}", "b"), "e_a{kind=\"x\"} 1\ne_b 3\n", opt.Of(3), "e_b"},
		{"a sum of what is there", kinds.Names("a + b + c"), "e_a 1\ne_c 4\n", opt.Of(5), "e_a + e_c"},
		{"no sum without its first", kinds.Names("a + b"), "e_b 1\n", opt.Float{}, ""},
		{"a product, rank by rank", kinds.Names("a * b"), "e_a{engine=\"0\"} 2\ne_a{engine=\"1\"} 3\ne_b{engine=\"1\"} 10\ne_b{engine=\"0\"} 100\n", opt.Of(230), "e_a * e_b"},
		{"a quotient of two that have one series each", kinds.Names("a / b"), "e_a{x=\"1\"} 2\ne_b{y=\"1\"} 8\n", opt.Of(0.25), "e_a / e_b"},
		{"nothing by nothing", kinds.Names("a / b"), "e_a 0\ne_b 0\n", opt.Float{}, ""},
		{"a product without one side", kinds.Names("a * b"), "e_a 2\n", opt.Float{}, ""},
		{"milliseconds", kinds.Names("a_ms"), "e_a_ms 1500\n", opt.Of(1.5), "e_a_ms"},
		{"microseconds of a counter", kinds.Names("a_us_total"), "e_a_us_total 1500\n", opt.Of(0.0015), "e_a_us_total"},
		{"NaN", kinds.Names("a"), "e_a NaN\n", opt.Float{}, ""},
		{"infinity beside a number", kinds.Names("a"), "e_a{engine=\"0\"} +Inf\ne_a{engine=\"1\"} 2\n", opt.Of(2), "e_a"},
		{"a sum beyond all numbers", kinds.Names("a"), "e_a{engine=\"0\"} 1e308\ne_a{engine=\"1\"} 1e308\n", opt.Float{}, ""},
	}
	for _, tt := range tests {
		got, source := oneTable(t, tt.list, tt.page)
		if got.OK != tt.want.OK || !near(got.V, tt.want.V) || source != tt.source {
			t.Errorf("%s: %v from %q, want %v from %q", tt.name, got, source, tt.want, tt.source)
		}
	}
}
