package still

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestPicture(t *testing.T) {
	svg := SVG("ab \x1b[1;38;2;255;0;16m<c>\x1b[0m⡀\n  x▂", false)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
	}
	for _, want := range []string{
		`width="83" height="58"`, // 7 cells of 8.4 and 2 lines of 17, with a margin of 12 all round
		`<text x="12.0" y="25.0" textLength="16.8" lengthAdjust="spacingAndGlyphs" fill="#c9d1d9">ab</text>`,
		`<g font-weight="bold"><text x="37.2" y="25.0" textLength="25.2" lengthAdjust="spacingAndGlyphs" fill="#ff0010">&lt;c&gt;</text></g>`,
		// The lowest dot of the left column of ⡀, a quarter of the cell in, and half a quarter above its bottom.
		`<circle cx="64.5" cy="26.9" r="1.3" fill="#c9d1d9"/>`,
		// A block of two eighths of a cell's height, at its bottom.
		`<rect x="37.2" y="41.8" width="8.4" height="4.2" fill="#c9d1d9"/>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is missing in\n%s", want, svg)
		}
	}
}

func FuzzSVG(f *testing.F) {
	f.Add("a\x1b[31mb\x00\xff\x1b]0;x\x07c")
	f.Fuzz(func(t *testing.T, view string) {
		if svg := SVG(view, false); strings.ContainsAny(svg, "\x1b\x07") {
			t.Errorf("control codes in the picture of %q", view)
		}
	})
}
