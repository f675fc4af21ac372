package chart

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// input is everything a caller could get wrong: sizes and any floats.
type input struct {
	w, h   int
	ascii  bool
	scale  Scale
	values []float64
}

// drawAll draws in with every function, checks the sizes, and that ASCII is ASCII.
func drawAll(t *testing.T, in input) {
	t.Helper()
	lo := options{Scale: in.scale, Label: number, Marks: []int{0, in.w / 2, in.w}, ASCII: in.ascii}
	do := options{Scale: in.scale, Label: number, Marks: lo.Marks}
	var samples []float32
	for _, v := range in.values {
		lo.Rules = append(lo.Rules, rule{Y: v})
		samples = append(samples, float32(v))
	}
	first := 1.0
	if len(in.values) > 0 {
		first = in.values[0]
	}
	ranged := (&Ranger{Log: in.scale.Log}).Scale(in.values)
	for what, lines := range map[string][]string{
		"Lines":       drawLines(in.w, in.h, lo, series{Style: red, Y: in.values}, series{Y: in.values[len(in.values)/2:]}),
		"Lines alone": drawLines(in.w, in.h, options{Scale: ranged, ASCII: in.ascii}, series{Y: in.values}),
		"Density":     densityOf(in.w, in.h, do, [][]float32{samples, nil, samples}),
		"Fit":         Fit([]string{number(first)}, in.w, in.h),
	} {
		wantSize(t, what, lines, in.w, in.h)
		if in.ascii {
			lines = inASCII(lines)
			wantASCII(t, what, lines)
			wantSize(t, what, lines, in.w, in.h)
		}
	}
	wantSize(t, "Spark", []string{Spark(in.w, in.values, first, red)}, in.w, 1)
	row := make([]Cell, len(in.values))
	for i, v := range in.values {
		row[i].Rune = rune('a' + int(math.Float64bits(v)%26))
	}
	wantSize(t, "Raster", Raster(in.w, in.h, [][]Cell{row, nil, row}), in.w, in.h)
}

func TestAnySizeAnyValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	odd := []float64{0, nan, inf, -inf, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1, -1}
	value := func() float64 {
		switch random.IntN(3) {
		case 0:
			return odd[random.IntN(len(odd))]
		case 1:
			return math.Float64frombits(random.Uint64())
		}
		return random.Float64() * 100
	}
	for range 150 {
		in := input{
			w: random.IntN(304) - 3, h: random.IntN(40) - 3, ascii: random.IntN(2) == 0,
			scale: Scale{Min: value(), Max: value(), Log: random.IntN(2) == 0},
		}
		for range random.IntN(300) {
			in.values = append(in.values, value())
		}
		drawAll(t, in)
	}
}

func TestTinySizes(t *testing.T) {
	for w := -3; w <= 8; w++ {
		for h := -3; h <= 8; h++ {
			for _, ascii := range []bool{false, true} {
				drawAll(t, input{w: w, h: h, ascii: ascii, scale: Scale{Max: 2}, values: []float64{1, 3, nan, 2, 0}})
				drawAll(t, input{w: w, h: h, ascii: ascii, scale: Scale{Log: true}})
			}
		}
	}
}

func FuzzSizes(f *testing.F) {
	f.Add(1, 1, false, 0.0, 1.0, false, []byte("12345678"))
	f.Add(300, 300, true, 1e-3, 1e9, true, []byte("\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00\x00\x00\xf0\x7f"))
	f.Add(-3, 9, true, -1.0, -2.0, true, []byte{})
	f.Fuzz(func(t *testing.T, w, h int, ascii bool, low, high float64, log bool, raw []byte) {
		in := input{w: w%304 - 3, h: h%304 - 3, ascii: ascii, scale: Scale{Min: low, Max: high, Log: log}}
		for len(raw) >= 8 && len(in.values) < 700 {
			in.values = append(in.values, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
			raw = raw[8:]
		}
		drawAll(t, in)
	})
}
