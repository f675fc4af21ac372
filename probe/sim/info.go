package sim

import "net/http"

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.modelID, "object": "model", "created": s.created, "owned_by": serverName,
		"root": s.modelID, "parent": nil, "max_model_len": s.setup.MaxModelLen,
	}}})
}

// version also says what is simulated, and where the GPU page is.
func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"version": serverVersion, "engine": serverName,
		"simulates": s.Describe(), "gpu_metrics": hardwarePath,
	})
}

// health answers 200 with an empty body while the engine runs.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if !s.driver.isRunning() {
		errNotRunning.write(w)
	}
}

func (s *Server) unknownPath(w http.ResponseWriter, r *http.Request) {
	e := &apiError{status: http.StatusNotFound, kind: "NotFoundError", code: http.StatusNotFound, message: "this engine has no " + r.Method + " " + r.URL.Path}
	e.write(w)
}
