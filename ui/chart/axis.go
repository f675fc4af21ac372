package chart

// tick is a labelled value and the row it lies in, 0 at the top.
type tick struct {
	row   int
	value float64
}

// axis is the y-axis at the left of a plot.
type axis struct {
	width int // cells, 0 = no axis
	ticks []tick
	texts [][]rune // one for each tick
}

func newAxis(w, h int, s Scale, label func(v float64) string) axis {
	if label == nil || h <= 0 {
		return axis{}
	}
	a := axis{ticks: ticks(s, h), width: 1}
	for _, t := range a.ticks {
		text := []rune(label(t.value))
		a.texts = append(a.texts, text)
		a.width = max(a.width, len(text)+1)
	}
	if a.width > w/2 {
		return axis{}
	}
	return a
}

// draw puts a vertical line with the labels at its left on g.
func (a axis) draw(g *grid, ink ink) {
	if a.width == 0 {
		return
	}
	x := a.width - 1
	for y := range g.h {
		g.put(x, y, '│', ink)
	}
	for i, t := range a.ticks {
		g.put(x, t.row, '┤', ink)
		for j, r := range a.texts[i] {
			g.put(x-len(a.texts[i])+j, t.row, r, ink)
		}
	}
}

// ticks chooses the values to label on h rows: both ends (the top alone on a single
// row), and between them as many round values as leave a free row around each.
func ticks(s Scale, h int) []tick {
	r := s.ruler()
	chosen := []tick{{row: 0, value: r.scale.Max}}
	if h > 1 {
		chosen = append(chosen, tick{row: h - 1, value: r.scale.Min})
	}
	for _, v := range between(r.scale, h) {
		row := h - 1 - r.slot(v, h)
		if !crowded(chosen, row, h) {
			chosen = append(chosen, tick{row, v})
		}
	}
	return chosen
}

// crowded reports whether a label in row would touch another. Charts of three
// and four rows have no room to spare and only need separate rows.
func crowded(chosen []tick, row, h int) bool {
	apart := 2
	if h < 5 {
		apart = 1
	}
	for _, t := range chosen {
		if d := row - t.row; -apart < d && d < apart {
			return true
		}
	}
	return false
}

// between returns candidates for labels inside s, the more important first.
func between(s Scale, h int) []float64 {
	if s.Log {
		return betweenLog(s)
	}
	n := divisions(s.Max-s.Min, h)
	values := make([]float64, 0, n)
	for i := 1; i < n; i++ {
		values = append(values, s.Min+(s.Max-s.Min)/float64(n)*float64(i))
	}
	return values
}

// divisions returns how many equal parts to cut a linear range into, so that each is a
// round number: of the parts that suit its leading digit the first that the rows can be
// divided by, which keeps the labels evenly apart. On few rows it is two.
func divisions(width float64, h int) int {
	if h < 11 {
		return 2
	}
	lead, _ := stepUp(width).parts()
	candidates := map[float64][]int{1: {5, 4, 2}, 2: {4, 2}, 5: {5, 2}}[lead]
	for _, n := range candidates {
		if (h-1)%n == 0 {
			return n
		}
	}
	return candidates[0]
}

// betweenLog returns the 1-2-5 steps inside s, decades first.
func betweenLog(s Scale) []float64 {
	var decades, steps []float64
	for k := stepUp(s.Min); k <= stepDown(s.Max); k++ {
		v := k.value()
		if v <= s.Min || v >= s.Max {
			continue
		}
		if k%decade == 0 {
			decades = append(decades, v)
		} else {
			steps = append(steps, v)
		}
	}
	return append(decades, steps...)
}
