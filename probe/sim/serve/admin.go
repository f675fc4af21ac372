package serve

import (
	"io"
	"net/http"
	"strings"
	"time"

	"sonde/probe/sim/faults"
)

// Where the engine can be told what is to go wrong. These paths are ours: no other
// server has them.
const (
	faultsPath   = "/sim/faults"
	scenarioPath = "/sim/scenario"
)

// admin is something that can be told while the engine runs, and asked how it stands.
type admin struct {
	replace, change func(text string) error // PUT and POST
	heal            func() error            // DELETE
	page            func() map[string]any   // the answer to all of them, and to GET
}

// adminFaults are the faults: PUT replaces all, POST those that it names.
func (s *API) adminFaults() admin {
	return admin{
		replace: func(list string) error {
			f, err := faults.Parse(list)
			if err != nil {
				return err
			}
			return s.timetable.SetFaults(f)
		},
		change: s.timetable.ChangeFaults,
		heal:   func() error { return s.timetable.SetFaults(faults.Faults{}) },
		page:   s.faultsPage,
	}
}

// adminScenario is the scenario that plays: PUT or POST its name.
func (s *API) adminScenario() admin {
	play := func(name string) error {
		if _, err := faults.FindScenario(name); err != nil {
			return err // also of no name, which Play takes for the end
		}
		return s.timetable.Play(name)
	}
	return admin{replace: play, change: play, heal: func() error { return s.timetable.Play("") }, page: s.scenarioPage}
}

func (a admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, e := adminBody(w, r)
	if e != nil {
		e.write(w)
		return
	}
	var err error
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPut:
		err = a.replace(text)
	case http.MethodPost:
		err = a.change(text)
	case http.MethodDelete:
		err = a.heal()
	default:
		methodNotAllowed(w)
		return
	}
	if err != nil {
		badRequest("", "%v", err).write(w)
		return
	}
	writeJSON(w, http.StatusOK, a.page())
}

func (s *API) faultsPage() map[string]any {
	now := s.timetable.Faults()
	name, _, _ := s.timetable.Playing()
	return map[string]any{
		"faults": now.String(), "asked": s.timetable.Requested().String(),
		"active": now.Active(), "scenario": orNull(name), "known": faults.Kinds(),
	}
}

func (s *API) scenarioPage() map[string]any {
	playing, part, left := s.timetable.Playing()
	return map[string]any{
		"scenario": orNull(playing), "part": orNull(part), "part_ends_in_s": left.Round(100 * time.Millisecond).Seconds(),
		"faults": s.timetable.Faults().String(), "known": faults.Scenarios,
	}
}

// adminBody is the list or the name that was sent, as bare text.
func adminBody(w http.ResponseWriter, r *http.Request) (string, *apiError) {
	const most = 4096 // bytes
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		return "", badRequest("", "the request body is not understood: %v", err)
	}
	return strings.TrimSpace(string(b)), nil
}

func methodNotAllowed(w http.ResponseWriter) {
	w.Header().Set("Allow", "GET, PUT, POST, DELETE")
	(&apiError{status: http.StatusMethodNotAllowed, kind: "MethodNotAllowed", code: http.StatusMethodNotAllowed,
		message: "GET tells, PUT and POST change, DELETE heals"}).write(w)
}

// orNull is a text in JSON, null if there is none.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
