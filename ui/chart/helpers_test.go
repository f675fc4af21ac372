package chart

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"sonde/ui/theme"
)

var (
	red   = lipgloss.NewStyle().Foreground(lipgloss.Red)
	green = lipgloss.NewStyle().Foreground(lipgloss.Green)
	plain = lipgloss.NewStyle()
)

const (
	redOn   = "\x1b[31m"
	greenOn = "\x1b[32m"
	off     = "\x1b[m"
)

func number(v float64) string { return fmt.Sprintf("%g", v) }

// wantPicture compares lines, styles taken off, with the rows of a drawing.
func wantPicture(t *testing.T, got []string, want ...string) {
	t.Helper()
	bare := make([]string, len(got))
	for i, line := range got {
		bare[i] = ansi.Strip(line)
	}
	if g, w := strings.Join(bare, "|\n"), strings.Join(want, "|\n"); g != w {
		t.Errorf("got\n%s|\nwant\n%s|", g, w)
	}
}

func wantString(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// wantSize checks that there are exactly h lines of exactly w cells.
func wantSize(t *testing.T, what string, lines []string, w, h int) {
	t.Helper()
	if len(lines) != max(h, 0) {
		t.Fatalf("%s %d×%d: %d lines", what, w, h, len(lines))
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n != max(w, 0) {
			t.Fatalf("%s %d×%d: line %d is %d cells wide: %q", what, w, h, i, n, line)
		}
	}
}

// inASCII is what ASCII terminals get.
func inASCII(lines []string) []string {
	for i := range lines {
		lines[i] = strings.Map(theme.ToASCII, lines[i])
	}
	return lines
}

// wantASCII checks that lines have no character above 0x7e but for styles.
func wantASCII(t *testing.T, what string, lines []string) {
	t.Helper()
	for _, line := range lines {
		for _, b := range []byte(ansi.Strip(line)) {
			if b < ' ' || b > '~' {
				t.Fatalf("%s: byte %#x in %q", what, b, line)
			}
		}
	}
}

// options is how a test's chart is drawn.
type options struct {
	Scale  Scale
	Label  func(float64) string
	Marks  []int // columns, 0 = leftmost
	Rules  []rule
	Points []Point
	ASCII  bool
	Rows   []lipgloss.Style
}

type series struct {
	Style lipgloss.Style
	Mark  rune // 0 is '*'
	Y     []float64
}

type rule struct {
	Y     float64
	Style lipgloss.Style
}

func (o *options) begin(w, h int) *Plot {
	p := New(w, h, o.Scale, o.Label, plain)
	p.ASCII = o.ASCII
	marked := make([]bool, p.Cols)
	for _, col := range o.Marks {
		if col >= 0 && col < p.Cols {
			marked[col] = true
		}
	}
	p.Marks(marked, plain)
	return p
}

func drawLines(w, h int, o options, all ...series) []string {
	p := o.begin(w, h)
	for _, r := range o.Rules {
		p.Rule(r.Y, r.Style)
	}
	for _, q := range o.Points {
		p.Spread(q)
	}
	for _, s := range all {
		if s.Mark == 0 {
			s.Mark = '*'
		}
		p.Line(s.Y, s.Style, s.Mark)
	}
	for _, q := range o.Points {
		p.Point(q)
	}
	return p.Picture()
}

func drawDensity(w, h int, o options, columns [][]uint32) []string {
	if o.Rows == nil {
		o.Rows = make([]lipgloss.Style, max(0, h)+1)
	}
	p := o.begin(w, h)
	p.Density(columns, o.Rows)
	return p.Picture()
}
