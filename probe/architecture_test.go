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

// layer is how high a package stands.
type layer int

// Layers, from the bottom up.
const (
	tools layer = iota
	values
	sources
	readers
	wiring
)

// room is a package of the project, and which others it imports.
type room struct {
	pkg     string // folder; "" is main
	layer   layer
	imports []string
}

// rooms are all packages, from the bottom up: each imports only what stands above it in this
// list. Readers of Frames import values and each other, never a source.
var rooms = []room{
	// Tools: they know nothing of the measurement.
	{"probe/arrivals", tools, nil},
	{"probe/guard", tools, nil},
	{"probe/length", tools, nil},
	{"probe/opt", tools, nil},
	{"probe/plain", tools, nil},
	{"probe/process", tools, nil},
	{"probe/prom", tools, []string{"probe/plain"}},
	{"probe/report/page", tools, nil},
	{"probe/units", tools, []string{"probe/opt"}},
	{"ui/cast", tools, nil},
	{"ui/chart", tools, nil},
	{"ui/still", tools, nil},
	{"ui/theme", tools, []string{"probe/plain"}},
	// Values: what readers may import.
	{"gpu", values, []string{"probe/opt", "probe/plain", "probe/units"}},
	{"probe/engine", values, []string{"probe/opt", "probe/plain"}},
	{"probe/measure", values, []string{"probe/opt"}},
	{"probe/prompt", values, nil},
	{"probe/roofline", values, []string{"probe/opt", "probe/plain"}},
	{"probe/frame", values, []string{"gpu", "probe/arrivals", "probe/engine", "probe/length", "probe/measure", "probe/opt", "probe/prompt", "probe/roofline", "probe/units"}},
	{"probe/slo", values, []string{"probe/measure", "probe/opt"}},
	// Sources: what no reader imports.
	{"gpu/nvml", sources, []string{"gpu", "probe/opt"}},
	{"gpu/exporter", sources, []string{"gpu", "gpu/nvml", "probe/opt", "probe/plain", "probe/prom"}},
	{"gpu/tool", sources, []string{"gpu", "gpu/nvml", "probe/opt"}},
	{"gpu/smi", sources, []string{"gpu", "gpu/nvml", "gpu/tool", "probe/guard", "probe/opt"}},
	{"gpu/amdsmi", sources, []string{"gpu", "gpu/tool", "probe/opt"}},
	{"gpu/remote", sources, []string{"gpu", "gpu/nvml", "gpu/tool", "probe/guard", "probe/opt"}},
	{"gpu/watch", sources, []string{"gpu", "gpu/amdsmi", "gpu/exporter", "gpu/nvml", "gpu/remote", "gpu/smi", "gpu/tool", "probe/guard", "probe/prom"}},
	{"probe/api/wire", sources, []string{"probe/plain"}},
	{"probe/api", sources, []string{"probe/api/wire", "probe/measure", "probe/plain"}},
	{"probe/collect", sources, []string{"probe/measure", "probe/opt"}},
	{"probe/engine/kinds", sources, []string{"probe/engine", "probe/opt", "probe/roofline"}},
	{"probe/engine/scrape", sources, []string{"probe/api/wire", "probe/engine", "probe/engine/kinds", "probe/guard", "probe/measure", "probe/opt", "probe/plain", "probe/prom", "probe/roofline"}},
	{"probe/load", sources, []string{"probe/api", "probe/arrivals", "probe/collect", "probe/frame", "probe/guard", "probe/measure", "probe/prompt"}},
	{"probe/crew", sources, []string{"probe/arrivals", "probe/collect", "probe/frame", "probe/guard", "probe/measure", "probe/plain", "probe/units"}},
	{"probe", sources, []string{"gpu", "gpu/watch", "probe/api", "probe/api/wire", "probe/arrivals", "probe/collect", "probe/engine", "probe/engine/scrape", "probe/frame", "probe/guard", "probe/length", "probe/load", "probe/measure", "probe/opt", "probe/process", "probe/prom", "probe/prompt", "probe/roofline", "probe/units"}},
	{"probe/canary/prober", sources, []string{"probe/api", "probe/api/wire", "probe/engine", "probe/engine/scrape", "probe/measure", "probe/prompt"}},
	{"probe/sim/faults", sources, nil},
	{"probe/sim/core", sources, []string{"probe/guard", "probe/roofline", "probe/sim/faults"}},
	{"probe/sim/serve", sources, []string{"probe/sim/core", "probe/sim/faults"}},
	{"probe/sim", sources, []string{"probe/frame", "probe/guard", "probe/sim/core", "probe/sim/faults", "probe/sim/serve"}},
	// Readers of Frames.
	{"probe/level", readers, []string{"gpu", "probe/arrivals", "probe/engine", "probe/frame", "probe/measure", "probe/opt", "probe/roofline", "probe/slo"}},
	{"probe/diagnose", readers, []string{"gpu", "probe/engine", "probe/frame", "probe/level", "probe/measure", "probe/opt", "probe/slo", "probe/units"}},
	{"probe/canary", readers, []string{"probe/diagnose", "probe/guard", "probe/measure", "probe/opt", "probe/plain", "probe/report/page", "probe/slo", "probe/units"}},
	{"probe/export", readers, []string{"probe/canary", "probe/diagnose", "probe/frame", "probe/guard", "probe/measure", "probe/opt", "probe/plain", "probe/slo"}},
	{"probe/record", readers, []string{"gpu", "probe/engine", "probe/frame", "probe/guard", "probe/measure", "probe/plain", "probe/units"}},
	{"probe/replay", readers, []string{"probe/frame", "probe/guard", "probe/record"}},
	{"probe/trace", readers, []string{"probe/arrivals", "probe/measure", "probe/plain", "probe/record"}},
	{"probe/sweep", readers, []string{"probe/frame", "probe/level", "probe/slo", "probe/units"}},
	{"probe/bench", readers, []string{"probe/diagnose", "probe/frame", "probe/level", "probe/measure", "probe/slo", "probe/sweep"}},
	{"probe/report", readers, []string{"gpu", "probe/arrivals", "probe/bench", "probe/diagnose", "probe/engine", "probe/frame", "probe/length", "probe/level", "probe/measure", "probe/opt", "probe/plain", "probe/report/page", "probe/slo", "probe/sweep", "probe/units"}},
	{"probe/compare", readers, []string{"probe/measure", "probe/opt", "probe/plain", "probe/report", "probe/report/page", "probe/units"}},
	{"probe/merge", readers, []string{"probe/diagnose", "probe/level", "probe/measure", "probe/opt", "probe/report", "probe/slo", "probe/units"}},
	{"probe/plan", readers, []string{"probe/opt", "probe/plain", "probe/report", "probe/report/page", "probe/roofline", "probe/slo", "probe/units"}},
	{"ui/history", readers, []string{"gpu", "probe/engine", "probe/frame", "probe/level", "probe/measure", "probe/opt"}},
	{"ui/text", readers, []string{"probe/plain", "probe/units", "ui/chart", "ui/theme"}},
	{"ui/panel", readers, []string{"gpu", "probe/arrivals", "probe/diagnose", "probe/engine", "probe/frame", "probe/level", "probe/measure", "probe/opt", "probe/slo", "probe/sweep", "probe/units", "ui/chart", "ui/history", "ui/text", "ui/theme"}},
	{"ui", readers, []string{"probe/arrivals", "probe/diagnose", "probe/engine", "probe/frame", "probe/guard", "probe/length", "probe/level", "probe/prompt", "probe/slo", "probe/sweep", "probe/units", "ui/cast", "ui/chart", "ui/history", "ui/panel", "ui/still", "ui/text", "ui/theme"}},
	{"ui/board", readers, []string{"probe/canary", "probe/guard", "probe/measure", "probe/opt", "probe/units", "ui", "ui/chart", "ui/panel", "ui/text", "ui/theme"}},
	// Wiring: from a Config to a running program, and what tests it.
	{"config", wiring, []string{"gpu/remote", "probe/arrivals", "probe/compare", "probe/crew", "probe/length", "probe/plain", "probe/plan", "probe/sim", "probe/slo", "probe/units", "ui/theme"}},
	{"probe/doctor/truth", wiring, []string{"probe/api/wire", "probe/guard", "probe/process"}},
	{"probe/doctor", wiring, []string{"gpu", "gpu/watch", "probe", "probe/api", "probe/api/wire", "probe/collect", "probe/doctor/truth", "probe/engine", "probe/engine/kinds", "probe/engine/scrape", "probe/frame", "probe/guard", "probe/load", "probe/measure", "probe/opt", "probe/plain", "probe/process", "probe/prompt", "probe/report/page", "probe/units", "ui/theme"}},
	{"probe/setup", wiring, []string{"config", "probe", "probe/api", "probe/arrivals", "probe/bench", "probe/canary", "probe/canary/prober", "probe/compare", "probe/crew", "probe/diagnose", "probe/export", "probe/frame", "probe/guard", "probe/length", "probe/level", "probe/merge", "probe/plain", "probe/plan", "probe/prompt", "probe/record", "probe/replay", "probe/report", "probe/roofline", "probe/sim", "probe/slo", "probe/sweep", "probe/trace", "probe/units", "ui/history"}},
	{"probe/command", wiring, []string{"config", "probe/bench", "probe/canary", "probe/diagnose", "probe/doctor", "probe/frame", "probe/guard", "probe/level", "probe/report", "probe/setup", "probe/sim", "probe/slo", "probe/sweep", "ui", "ui/board"}},
	{"", wiring, []string{"config", "gpu/nvml", "probe/command"}},
	{"probe/simtest", wiring, []string{"probe", "probe/api", "probe/frame", "probe/prompt", "probe/sim"}},
}

func TestRoomsStandInOrder(t *testing.T) {
	layerOf := map[string]layer{}
	for _, r := range rooms {
		for _, name := range r.imports {
			below, known := layerOf[name]
			switch {
			case !known:
				t.Errorf("%q imports %q, which does not stand above it", r.pkg, name)
			case below > r.layer:
				t.Errorf("%q imports %q of a higher layer", r.pkg, name)
			case r.layer == readers && below == sources:
				t.Errorf("the reader %q imports the source %q", r.pkg, name)
			}
		}
		layerOf[r.pkg] = r.layer
	}
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
		at := slices.IndexFunc(rooms, func(r room) bool { return r.pkg == pkg })
		if at < 0 {
			t.Errorf("package %q has no row in the table", pkg)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			if own, ok := strings.CutPrefix(name, "sonde/"); ok && !slices.Contains(rooms[at].imports, own) {
				t.Errorf("%s imports %s", path, own)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rooms {
		if !seen[r.pkg] {
			t.Errorf("the table has a row for %q, which does not exist", r.pkg)
		}
	}
}
