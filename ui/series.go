package ui

import "math"

// dotsPerColumn is how many dots wide a cell of a line chart is.
const dotsPerColumn = 2

// bridgeDots is the longest pause, in dots, that a line crosses: 4 s at 1 s a
// column. Requests end a few times a second at best, so single dots would not
// read as a line; a longer pause stays a gap.
const bridgeDots = 8

// latencyLines gives p50, p95 and p99 for a plot of w cells, one value a dot,
// newest last, NaN where no sample ended.
func latencyLines(columns []*column, w int, of func(*dot) triple) [3][]float64 {
	var lines [3][]float64
	for i := range lines {
		lines[i] = blanks(w * dotsPerColumn)
	}
	from := (w - len(columns)) * dotsPerColumn
	for at, c := range columns {
		for half := range c.dots {
			t := of(&c.dots[half])
			for i := range lines {
				lines[i][from+at*dotsPerColumn+half] = t[i]
			}
		}
	}
	for i := range lines {
		bridge(lines[i], bridgeDots)
	}
	return lines
}

func ttftOf(d *dot) triple { return ofDot(d.ttft, d.ttftMS) }
func tpotOf(d *dot) triple { return ofDot(d.tpot, d.tpotMS) }

// ofDot prefers the samples of a dot that is still open.
func ofDot(closed triple, open []float64) triple {
	switch {
	case len(open) > 0:
		return tripleOf(open)
	case closed == (triple{}):
		return noTriple
	}
	return closed
}

// columnLine gives one value per column, on both of its dots.
func columnLine(columns []*column, w int, of func(*column) float64) []float64 {
	line := blanks(w * dotsPerColumn)
	from := (w - len(columns)) * dotsPerColumn
	for at, c := range columns {
		v := of(c)
		line[from+at*dotsPerColumn], line[from+at*dotsPerColumn+1] = v, v
	}
	return line
}

// cells gives one value per column for a spark line of w cells.
func cells(columns []*column, w int, of func(*column) float64) []float64 {
	line := blanks(w)
	for at, c := range columns {
		line[w-len(columns)+at] = of(c)
	}
	return line
}

// marks gives the cells in which something was done to the load.
func marks(columns []*column, w int) []int {
	var at []int
	for i, c := range columns {
		if c.mark != markNone {
			at = append(at, w-len(columns)+i)
		}
	}
	return at
}

func blanks(n int) []float64 {
	ys := make([]float64, max(0, n))
	for i := range ys {
		ys[i] = math.NaN()
	}
	return ys
}

// bridge joins neighbours that are at most most dots apart by a straight line.
func bridge(ys []float64, most int) {
	last := -1
	for i, y := range ys {
		if math.IsNaN(y) {
			continue
		}
		if last >= 0 && i-last > 1 && i-last <= most {
			for k := last + 1; k < i; k++ {
				ys[k] = ys[last] + (y-ys[last])*float64(k-last)/float64(i-last)
			}
		}
		last = i
	}
}
