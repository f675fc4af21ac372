package opt

import (
	"encoding/json"
	"math"
	"testing"
)

func TestUnknownIsNull(t *testing.T) {
	for _, c := range []struct {
		f    Float
		want string
	}{
		{Float{}, "null"}, {Of(0), "0"}, {Of(1.5), "1.5"}, {Of(math.NaN()), "null"}, {Of(math.Inf(1)), "null"},
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
