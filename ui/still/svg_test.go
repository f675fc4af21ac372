package still

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestPicture(t *testing.T) {
	svg := SVG("ab \x1b[1;38;2;255;0;16m<c>\x1b[0m\n  \x1b[7mx\x1b[0m")
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
	}
	for _, want := range []string{
		`width="74" height="58"`, // 6 cells of 8.4 and 2 lines of 17, with a margin of 12 all round
		`<text x="12.0" y="25" textLength="16.8" lengthAdjust="spacingAndGlyphs">ab</text>`,
		`<text x="37.2" y="25" textLength="25.2" lengthAdjust="spacingAndGlyphs" fill="#ff0010" font-weight="bold">&lt;c&gt;</text>`,
		`<rect x="28.8" y="29" width="8.4" height="17" fill="#c9c9c9"/>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is missing in\n%s", want, svg)
		}
	}
}

func FuzzSVG(f *testing.F) {
	f.Add("a\x1b[31mb\x00\xff\x1b]0;x\x07c")
	f.Fuzz(func(t *testing.T, view string) {
		if svg := SVG(view); strings.ContainsAny(svg, "\x1b\x07") {
			t.Errorf("control codes in the picture of %q", view)
		}
	})
}
