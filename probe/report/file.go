package report

import (
	"encoding/json"
	"errors"
	"fmt"
)

// File is what a file of results holds. The Summary of one load is a sweep of that level.
type File struct {
	SweepSummary
	Single bool // a Summary: nothing points at a level
}

// ReadFile reads what `sonde bench` and `sonde sweep` write as JSON.
func ReadFile(raw []byte) (*File, error) {
	var form struct {
		Schema string          `json:"schema"`
		Levels json.RawMessage `json:"levels"`
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return nil, errors.New("not a JSON file from sonde bench or sonde sweep (--format json)")
	}
	if form.Schema != Schema {
		return nil, fmt.Errorf("not a file from sonde bench or sonde sweep: its schema must be %q", Schema)
	}
	f := &File{Single: form.Levels == nil}
	var err error
	if f.Single {
		f.Levels = []Level{{Settled: true}} // it has no other level to settle from
		l := &f.Levels[0]
		err = json.Unmarshal(raw, l)
		f.Run = l.Run
	} else {
		err = json.Unmarshal(raw, &f.SweepSummary)
	}
	if err != nil {
		return nil, fmt.Errorf("damaged file from sonde bench or sonde sweep: %w", err)
	}
	return f, nil
}
