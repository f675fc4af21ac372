package chart

import "testing"

func TestBar(t *testing.T) {
	for _, c := range []struct {
		fraction      float64
		blocks, ascii string
	}{
		{0, "░░░░", "...."},
		{1e-9, "▏░░░", "...."},
		{0.5, "██░░", "##.."},
		{0.40625, "█▋░░", "##.."}, // 13 eighths of 32
		{1, "████", "####"},
		{7, "████", "####"},
		{inf, "████", "####"},
		{-1, "░░░░", "...."},
		{nan, "    ", "    "},
	} {
		wantPicture(t, []string{Bar(4, c.fraction, plain, plain, false)}, c.blocks)
		wantPicture(t, []string{Bar(4, c.fraction, plain, plain, true)}, c.ascii)
	}
	wantString(t, Bar(4, 0.5, red, green, false), redOn+"██"+off+greenOn+"░░"+off)
	wantString(t, Bar(-1, 0.5, red, green, false), "")
}

func TestSpark(t *testing.T) {
	ys := []float64{9, 0, 1, 2, 3, 4, 5, 6, 7, 8, nan, 8.1, -1}
	wantPicture(t, []string{Spark(12, ys, 8, plain, false)}, "▁▂▃▄▅▆▇██ ▲▁")
	wantPicture(t, []string{Spark(12, ys, 8, plain, true)}, "_.:-=+*## ^_")
	// Without a top the largest value shown is the full height.
	wantPicture(t, []string{Spark(4, []float64{0, 50, 100}, 0, plain, false)}, " ▁▅█")
	wantPicture(t, []string{Spark(3, []float64{0, 0, 0}, nan, plain, false)}, "▁▁▁")
	wantString(t, Spark(3, []float64{1, nan}, 1, red, false), " "+redOn+"█"+off+" ")
	wantString(t, Spark(0, ys, 1, red, false), "")
}
