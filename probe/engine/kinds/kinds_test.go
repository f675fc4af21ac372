package kinds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/probe/engine"
)

// pages are all recorded pages in one text.
func pages(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../scrape/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded pages", err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// Every table is well-formed: its fields are of the right sort, and some recorded page has
// a metric of it, by its full name.
func TestTables(t *testing.T) {
	var r engine.Reading
	recorded := pages(t)
	for _, k := range All {
		if k.Table == nil {
			continue
		}
		for f := range k.Table.Fields {
			if r.Figure(f) == nil && r.Distribution(f) == nil {
				t.Errorf("%s: %s is not a field", k.ID, f)
			}
		}
		for f := range k.Table.Remarks {
			if r.Figure(f) == nil && r.Distribution(f) == nil {
				t.Errorf("%s: a remark on %s, which is not a field", k.ID, f)
			}
		}
		found := false
		for _, name := range k.Table.Families() {
			found = found || strings.Contains(recorded, "\n"+name)
		}
		if !found || len(k.Table.Prefixes) == 0 {
			t.Errorf("%s: no recorded page has a metric of its table", k.ID)
		}
	}
}

func TestKindsHaveNamesAndOffers(t *testing.T) {
	for _, k := range All {
		if k.ID == "" || k.Name == "" {
			t.Errorf("%+v has no name", k)
		}
		if k.Table != nil && len(Offers(k.ID)) == 0 {
			t.Errorf("%s offers nothing", k.ID)
		}
	}
}
