package theme

import (
	"os"
	"path/filepath"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

func themeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file names some colours; the others are those of its base.
func TestThemeFromAFile(t *testing.T) {
	th, err := Parse(themeFile(t, `base = "light"
p50 = 26
p95 = "#aF5f00"
dim = ""
gaps = [16, 17, 18, 19, "#050505"]
`))
	if err != nil {
		t.Fatal(err)
	}
	light := Theme{Name: "light"}.Palette(colorprofile.TrueColor, false)
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI} {
		p := th.Palette(profile, false)
		for name, c := range map[string]struct{ got, want any }{
			"p50":     {p.P50.GetForeground(), lipgloss.Color("26")},
			"p95":     {p.P95.GetForeground(), lipgloss.Color("#af5f00")},
			"dim":     {p.Dim.GetForeground(), lipgloss.NoColor{}},
			"gaps[1]": {p.Gaps[1].GetForeground(), lipgloss.Color("17")},
			"gaps[4]": {p.Gaps[4].GetForeground(), lipgloss.Color("#050505")},
			"light":   {p.Light, true},
		} {
			if c.got != c.want {
				t.Errorf("%v: %s is %v, want %v", profile, name, c.got, c.want)
			}
		}
		if profile == colorprofile.TrueColor && p.Good.GetForeground() != light.Good.GetForeground() {
			t.Errorf("good is %v, not that of the base", p.Good.GetForeground())
		}
	}
}

func TestThemesThatAreRefused(t *testing.T) {
	const color = `must be a colour: 0 to 255, "#rrggbb", or "" for the terminal's own`
	for text, want := range map[string]string{
		"p51 = 3":              "p51 is an unknown key: must be one of accent, bad, base, border, calm, dim, first, gaps, good, light, mark, note, p50, p95, p99, second, slo, warn",
		"p50 = 256":            "p50 " + color,
		"p50 = 'red'":          "p50 " + color,
		"bad = '#12345'":       "bad " + color,
		"gaps = [1, 2]":        "gaps must be a list of 5 colours, from short gaps to long ones",
		"gaps = [1,2,3,4,1.5]": "gaps " + color,
		"base = 'dark'":        "base must be default, high-contrast, light, mono",
		"base = 3":             "base must be default, high-contrast, light, mono",
		"light = 1":            "light must be true or false",
		"p50 = = 3":            "line 1, column 7: incomplete number",
	} {
		_, err := Parse(themeFile(t, text))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
	if _, err := Parse("/nowhere/dark"); err == nil || err.Error() != "must be default, high-contrast, light, mono, or a TOML file of colours (no such file or directory)" {
		t.Error(err)
	}
}

func TestThemesByName(t *testing.T) {
	for _, name := range Names {
		th, err := Parse(name)
		if err != nil || th.String() != name {
			t.Errorf("%s: %v, %v", name, th, err)
		}
	}
	mono := Theme{Name: "mono"}.Palette(colorprofile.TrueColor, false)
	if mono.P50.GetForeground() != (lipgloss.NoColor{}) || !mono.Shapes {
		t.Error("mono has colours, or curves without shapes")
	}
}
