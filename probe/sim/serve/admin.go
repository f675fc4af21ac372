package serve

import (
	"io"
	"net/http"
	"strings"
	"time"

	"sonde/probe/sim/faults"
)

// The paths that change what goes wrong are ours: no other server has them. All take
// a list or a name as bare text, and answer with the page that GET shows.

// adminFaults changes the faults: PUT replaces all, POST those that it names.
func (a *API) adminFaults(w http.ResponseWriter, r *http.Request) *apiError {
	e := change(w, r, func(list string) error {
		if r.Method == http.MethodPost {
			return a.timetable.ChangeFaults(list)
		}
		f, err := faults.Parse(list)
		if err != nil {
			return err
		}
		return a.timetable.SetFaults(f)
	})
	if e != nil {
		return e
	}
	now := a.timetable.Faults()
	playing, _, _ := a.timetable.Playing()
	return writeJSON(w, http.StatusOK, map[string]any{
		"faults": now.String(), "asked": a.timetable.Requested().String(),
		"active": now.Active(), "scenario": orNull(playing), "known": faults.Kinds,
	})
}

// adminScenario starts the scenario that PUT or POST names.
func (a *API) adminScenario(w http.ResponseWriter, r *http.Request) *apiError {
	e := change(w, r, func(name string) error {
		if r.Method != http.MethodDelete {
			if _, err := faults.FindScenario(name); err != nil {
				return err // also of no name, which would end what plays
			}
		}
		return a.timetable.Play(name)
	})
	if e != nil {
		return e
	}
	playing, part, left := a.timetable.Playing()
	return writeJSON(w, http.StatusOK, map[string]any{
		"scenario": orNull(playing), "part": orNull(part), "part_ends_in_s": left.Round(100 * time.Millisecond).Seconds(),
		"faults": a.timetable.Faults().String(), "known": faults.Scenarios,
	})
}

// change calls apply with the text that a request sent, "" for DELETE. GET changes
// nothing.
func change(w http.ResponseWriter, r *http.Request, apply func(text string) error) *apiError {
	const most = 4096 // bytes
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		return badRequest("", "invalid request body: %v", err)
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPut, http.MethodPost:
		err = apply(strings.TrimSpace(string(body)))
	case http.MethodDelete:
		err = apply("")
	default:
		w.Header().Set("Allow", "GET, PUT, POST, DELETE")
		return failure(http.StatusMethodNotAllowed, "use GET to read, PUT or POST to change, DELETE to end")
	}
	if err != nil {
		return badRequest("", "%v", err)
	}
	return nil
}
