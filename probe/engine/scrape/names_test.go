package scrape

import (
	"testing"

	"sonde/probe/engine"
	"sonde/probe/opt"
	"sonde/probe/prom"
)

// oneTable reads one field of a page by one list of names.
func oneTable(t *testing.T, list names, page string) (opt.Float, string) {
	t.Helper()
	parsed, err := prom.Parse([]byte(page), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &kind{table: &table{prefixes: []string{"e_"}, gauges: map[engine.Field]names{engine.FieldRunning: list}}}
	s, err := read(parsed, []*kind{k}, "", parsedAt)
	if err != nil {
		t.Fatal(err)
	}
	return s.Running, s.Origins[engine.FieldRunning].Source
}

func TestWaysToReadAField(t *testing.T) {
	tests := []struct {
		name   string
		list   names
		page   string
		want   opt.Float
		source string
	}{
		{"the newer name", names{"new", "old"}, "e_old 1\ne_new 2\n", opt.Of(2), "e_new"},
		{"the older name", names{"new", "old"}, "e_old 1\n", opt.Of(1), "e_old"},
		{"a label", names{"a{kind=x}"}, "e_a{kind=\"x\"} 1\ne_a{kind=\"y\"} 2\n", opt.Of(1), "e_a{kind=x}"},
		{"one of two labels", names{"a{kind=x|z,n=1}"}, "e_a{kind=\"x\",n=\"1\"} 1\ne_a{kind=\"y\",n=\"1\"} 2\ne_a{kind=\"z\",n=\"1\"} 4\ne_a{kind=\"z\",n=\"2\"} 8\n", opt.Of(5), "e_a{kind=x|z,n=1}"},
		{"no such label", names{"a{kind=q}", "b"}, "e_a{kind=\"x\"} 1\ne_b 3\n", opt.Of(3), "e_b"},
		{"a sum of what is there", names{"a + b + c"}, "e_a 1\ne_c 4\n", opt.Of(5), "e_a + e_c"},
		{"no sum without its first", names{"a + b"}, "e_b 1\n", opt.Float{}, ""},
		{"a product, rank by rank", names{"a * b"}, "e_a{engine=\"0\"} 2\ne_a{engine=\"1\"} 3\ne_b{engine=\"1\"} 10\ne_b{engine=\"0\"} 100\n", opt.Of(230), "e_a * e_b"},
		{"a quotient of two that have one series each", names{"a / b"}, "e_a{x=\"1\"} 2\ne_b{y=\"1\"} 8\n", opt.Of(0.25), "e_a / e_b"},
		{"nothing by nothing", names{"a / b"}, "e_a 0\ne_b 0\n", opt.Float{}, ""},
		{"a product without one side", names{"a * b"}, "e_a 2\n", opt.Float{}, ""},
		{"milliseconds", names{"a_ms"}, "e_a_ms 1500\n", opt.Of(1.5), "e_a_ms"},
		{"microseconds of a counter", names{"a_us_total"}, "e_a_us_total 1500\n", opt.Of(0.0015), "e_a_us_total"},
		{"NaN", names{"a"}, "e_a NaN\n", opt.Float{}, ""},
		{"infinity beside a number", names{"a"}, "e_a{engine=\"0\"} +Inf\ne_a{engine=\"1\"} 2\n", opt.Of(2), "e_a"},
		{"a sum beyond all numbers", names{"a"}, "e_a{engine=\"0\"} 1e308\ne_a{engine=\"1\"} 1e308\n", opt.Float{}, ""},
	}
	for _, tt := range tests {
		got, source := oneTable(t, tt.list, tt.page)
		if got.OK != tt.want.OK || !near(got.V, tt.want.V) || source != tt.source {
			t.Errorf("%s: %v from %q, want %v from %q", tt.name, got, source, tt.want, tt.source)
		}
	}
}

// Every table is well-formed: its fields are of the right sort, and each name
// stands for one metric.
func TestTables(t *testing.T) {
	var r engine.Reading
	for _, k := range kinds {
		if k.table == nil {
			continue
		}
		for f := range k.table.gauges {
			if r.Figure(f) == nil {
				t.Errorf("%s: %s is no figure", k.id, f)
			}
		}
		for f := range k.table.counters {
			if r.Counter(f) == nil {
				t.Errorf("%s: %s is no counter", k.id, f)
			}
		}
		for f := range k.table.histograms {
			if r.Distribution(f) == nil {
				t.Errorf("%s: %s is no distribution", k.id, f)
			}
		}
		for f := range k.table.remarks {
			if r.Figure(f) == nil && r.Distribution(f) == nil {
				t.Errorf("%s: a remark on %s, which is no field", k.id, f)
			}
		}
		if len(k.table.families()) < 2 || len(k.table.prefixes) == 0 {
			t.Errorf("%s: a table that reads nothing", k.id)
		}
	}
}
