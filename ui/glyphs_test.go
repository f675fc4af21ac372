package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"sonde/ui/theme"
)

// Every sign that stands in a text of the screen has an ASCII form, also those that
// are only seen now and then, such as the one of a sweep.
func TestEverySignOfTheSourceHasAnASCIIForm(t *testing.T) {
	files, err := filepath.Glob("*.go")
	for _, room := range []string{"panel", "text", "theme", "chart"} {
		more, _ := filepath.Glob(room + "/*.go")
		files = append(files, more...)
	}
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "keyboard.go" { // its letters are read, never shown
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				for _, r := range text {
					if r > unicode.MaxASCII && theme.ToASCII(r) == '?' {
						t.Errorf("%s: %q in %q has no ASCII form", name, r, text)
					}
				}
			}
			return true
		})
	}
}
