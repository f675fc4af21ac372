package opt

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestUnknownIsNull(t *testing.T) {
	for _, c := range []struct {
		f    Float
		want string
	}{
		{Float{}, "null"}, {Of(0), "0"}, {Of(1.5), "1.5"}, {Of(1756.0000000000002), "1756"}, {Of(math.MaxFloat64), "1.7976931348623157e+308"}, {Of(math.NaN()), "null"}, {Of(math.Inf(1)), "null"},
		{Of(2).Scale(3), "6"}, {Of(2).Scale(math.Inf(-1)), "null"}, {Float{}.Scale(3), "null"}, {Float{V: math.NaN(), OK: true}, "null"},
	} {
		raw, err := json.Marshal(c.f)
		if err != nil || string(raw) != c.want {
			t.Errorf("%+v is written as %s (%v), want %s", c.f, raw, err, c.want)
		}
	}
}

func TestReadingBack(t *testing.T) {
	var v struct{ A, B Float }
	if err := json.Unmarshal([]byte(`{"A":2.5,"B":null}`), &v); err != nil || v.A != Of(2.5) || v.B.OK {
		t.Errorf("%+v, %v", v, err)
	}
	if v.A.Or(9) != 2.5 || v.B.Or(9) != 9 {
		t.Errorf("%v %v", v.A.Or(9), v.B.Or(9))
	}
	if json.Unmarshal([]byte(`{"A":"x"}`), &v) == nil {
		t.Error("a text was taken as a number")
	}
}

// 10 for one second and 40 for two are 30 on average: (10·1 + 40·2) / 3.
func TestTimeMean(t *testing.T) {
	var a, b TimeMean
	if a.Mean().OK || a.Max().OK {
		t.Error("nothing has a mean")
	}
	a.Add(Of(10), time.Second)
	a.Add(Float{}, time.Hour)
	a.Add(Of(99), 0)
	b.Add(Of(40), 2*time.Second)
	a.Merge(&b)
	if got := a.Mean(); got != Of(30) {
		t.Errorf("mean %v, want 30", got)
	}
	if got := a.Max(); got != Of(40) {
		t.Errorf("largest %v, want 40", got)
	}
}
