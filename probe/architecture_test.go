package probe_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed says which packages of the project each package may import. Data flows
// from the sources up to the screen; a line that points up is a design error.
var allowed = map[string][]string{
	"":            {"config", "gpu/nvml", "probe/bench", "probe/diagnose", "probe/doctor", "probe/level", "probe/report", "probe/setup", "probe/sweep", "ui"},
	"probe/setup": {"config", "probe", "probe/api", "probe/bench", "probe/frame", "probe/guard", "probe/level", "probe/plan", "probe/prompt", "probe/record", "probe/replay", "probe/roofline", "probe/sim", "probe/slo", "probe/sweep"},

	"config": {"probe/plan", "probe/slo"},

	"probe/opt":           {},
	"probe/plain":         {},
	"probe/units":         {"probe/opt"},
	"probe/guard":         {},
	"probe/process":       {},
	"probe/prom":          {"probe/plain"},
	"probe/measure":       {"probe/opt"},
	"probe/collect":       {"probe/measure", "probe/opt"},
	"probe/slo":           {"probe/measure", "probe/opt"},
	"probe/api/wire":      {},
	"probe/api":           {"probe/api/wire", "probe/measure", "probe/plain"},
	"probe/prompt":        {},
	"probe/load":          {"probe/api", "probe/collect", "probe/guard", "probe/measure", "probe/prompt"},
	"probe/roofline":      {"probe/opt", "probe/plain"},
	"probe/engine":        {"probe/opt"},
	"probe/engine/kinds":  {"probe/engine", "probe/opt", "probe/roofline"},
	"probe/engine/scrape": {"probe/engine", "probe/engine/kinds", "probe/guard", "probe/measure", "probe/opt", "probe/plain", "probe/prom", "probe/roofline"},
	"gpu":                 {"probe/opt", "probe/plain"},
	"gpu/common":          {"gpu", "probe/opt", "probe/plain"},
	"gpu/nvml":            {"gpu", "gpu/common", "probe/opt"},
	"gpu/smi":             {"gpu", "gpu/common", "gpu/nvml", "probe/opt"},
	"gpu/exporter":        {"gpu", "gpu/common", "gpu/nvml", "probe/opt", "probe/prom"},
	"gpu/watch":           {"gpu", "gpu/common", "gpu/exporter", "gpu/nvml", "gpu/smi", "probe/guard", "probe/prom"},

	"probe/frame": {"gpu", "probe/engine", "probe/measure", "probe/opt", "probe/prompt", "probe/roofline"},

	"probe": {"gpu", "gpu/watch", "probe/frame", "probe/api", "probe/collect", "probe/engine", "probe/engine/scrape", "probe/guard", "probe/load", "probe/measure", "probe/opt", "probe/process", "probe/prom", "probe/prompt", "probe/roofline"},

	// The embedded engine.
	"probe/sim/faults": {},
	"probe/sim/core":   {"probe/guard", "probe/roofline", "probe/sim/faults"},
	"probe/sim/serve":  {"probe/sim/core", "probe/sim/faults"},
	"probe/sim":        {"probe/frame", "probe/guard", "probe/sim/core", "probe/sim/faults", "probe/sim/serve"},

	// For tests only: the embedded engine measured in virtual time.
	"probe/simtest": {"probe", "probe/frame", "probe/api", "probe/prompt", "probe/sim"},

	// The doctor's scripted server stands beside the program, its checklist above it.
	"probe/doctor/truth": {"probe/api/wire", "probe/guard", "probe/process"},
	"probe/doctor": {"gpu", "probe/report/page", "gpu/watch", "probe", "probe/frame", "probe/api", "probe/collect", "probe/api/wire", "probe/doctor/truth", "probe/engine", "probe/engine/kinds", "probe/engine/scrape", "probe/guard", "probe/load",
		"probe/measure", "probe/opt", "probe/plain", "probe/process", "probe/prompt", "probe/units"},

	// Readers of Frames: what they name beside Frames are the plain values in them.
	"probe/level":       {"gpu", "probe/engine", "probe/frame", "probe/measure", "probe/opt", "probe/roofline", "probe/slo"},
	"probe/diagnose":    {"gpu", "probe/engine", "probe/frame", "probe/level", "probe/measure", "probe/opt", "probe/slo"},
	"probe/sweep":       {"probe/frame", "probe/level", "probe/opt", "probe/slo"},
	"probe/record":      {"gpu", "probe/engine", "probe/frame", "probe/guard", "probe/measure", "probe/plain"},
	"probe/replay":      {"probe/frame", "probe/guard", "probe/record"},
	"probe/plan":        {"probe/opt", "probe/plain", "probe/report/page", "probe/roofline", "probe/slo"},
	"probe/bench":       {"probe/diagnose", "probe/frame", "probe/level", "probe/measure", "probe/slo", "probe/sweep"},
	"probe/report":      {"gpu", "probe/bench", "probe/diagnose", "probe/engine", "probe/frame", "probe/level", "probe/measure", "probe/opt", "probe/plain", "probe/report/page", "probe/slo", "probe/sweep"},
	"probe/report/page": {},
	"ui/chart":          {},
	"ui/still":          {},
	"ui/theme":          {},
	"ui/text":           {"probe/plain", "probe/units", "ui/chart", "ui/theme"},
	"ui/history":        {"gpu", "probe/engine", "probe/frame", "probe/measure", "probe/opt"},
	"ui/panel":          {"gpu", "probe/diagnose", "probe/engine", "probe/frame", "probe/level", "probe/measure", "probe/opt", "probe/slo", "probe/sweep", "probe/units", "ui/chart", "ui/history", "ui/text", "ui/theme"},
	"ui":                {"probe/diagnose", "probe/engine", "probe/frame", "probe/guard", "probe/level", "probe/slo", "probe/sweep", "probe/units", "ui/chart", "ui/history", "ui/panel", "ui/still", "ui/text", "ui/theme"},
}

func TestImportsPointDown(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		pkg, _ := filepath.Rel("..", filepath.Dir(path))
		pkg = strings.TrimPrefix(filepath.ToSlash(pkg), ".")
		seen[pkg] = true
		may, known := allowed[pkg]
		if !known {
			t.Errorf("package %q has no line in the table", pkg)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			if own, ok := strings.CutPrefix(name, "sonde/"); ok && !slices.Contains(may, own) {
				t.Errorf("%s imports %s", path, own)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range allowed {
		if !seen[pkg] {
			t.Errorf("the table has a line for %q, which does not exist", pkg)
		}
	}
}
