package chart

import "testing"

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
