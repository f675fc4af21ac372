package sim

import (
	"io"
	"net/http"
	"strings"
)

// Where the engine can be told what is to go wrong. These paths are ours: no other
// server has them.
const (
	faultsPath   = "/sim/faults"
	scenarioPath = "/sim/scenario"
)

// Faults are those in force, with those of a scenario.
func (s *Server) Faults() Faults { return s.trouble.current() }

// SetFaults replaces the faults that were asked for. Those of a scenario that plays
// stay on top.
func (s *Server) SetFaults(f Faults) error {
	if err := f.check(); err != nil {
		return err
	}
	s.trouble.ask(f)
	return nil
}

// ChangeFaults replaces the faults of a list such as "clump=8,slow=off"; the others
// that were asked for stay.
func (s *Server) ChangeFaults(list string) error {
	f, err := s.trouble.requested().With(list)
	if err != nil {
		return err
	}
	s.trouble.ask(f)
	return nil
}

// adminFaults tells the faults and changes them: PUT replaces all, POST those that
// it names, DELETE heals.
func (s *Server) adminFaults(w http.ResponseWriter, r *http.Request) {
	list, e := adminBody(w, r)
	if e != nil {
		e.write(w)
		return
	}
	var err error
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPut:
		var f Faults
		if f, err = ParseFaults(list); err == nil {
			err = s.SetFaults(f)
		}
	case http.MethodPost:
		err = s.ChangeFaults(list)
	case http.MethodDelete:
		err = s.SetFaults(Faults{})
	default:
		methodNotAllowed(w)
		return
	}
	if err != nil {
		badRequest("", "%v", err).write(w)
		return
	}
	writeJSON(w, http.StatusOK, s.faultsPage())
}

// activeFault is a fault in force.
type activeFault struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Means string `json:"means"`
}

func (s *Server) faultsPage() map[string]any {
	now := s.Faults()
	active := []activeFault{}
	for _, k := range faultKinds {
		if v := k.text(&now); v != "" {
			active = append(active, activeFault{k.Name, v, k.Means})
		}
	}
	name, _, _ := s.Playing()
	return map[string]any{
		"faults": now.String(), "asked": s.trouble.requested().String(),
		"active": active, "scenario": orNull(name), "known": FaultKinds(),
	}
}

// adminScenario tells which scenario plays and starts one: PUT or POST its name.
// DELETE ends it.
func (s *Server) adminScenario(w http.ResponseWriter, r *http.Request) {
	name, e := adminBody(w, r)
	if e != nil {
		e.write(w)
		return
	}
	var err error
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPut, http.MethodPost:
		if name == "" {
			_, err = sceneNamed(name)
		} else {
			err = s.Play(name)
		}
	case http.MethodDelete:
		err = s.Play("")
	default:
		methodNotAllowed(w)
		return
	}
	if err != nil {
		badRequest("", "%v", err).write(w)
		return
	}
	playing, part, left := s.Playing()
	writeJSON(w, http.StatusOK, map[string]any{
		"scenario": orNull(playing), "part": orNull(part), "part_ends_in_s": left.Round(1e8).Seconds(),
		"faults": s.Faults().String(), "known": Scenarios(),
	})
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
