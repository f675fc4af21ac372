package sim

import "net/http"

const faultsPath, scenarioPath = "/sim/faults", "/sim/scenario"

func (s *Server) adminFaults(w http.ResponseWriter, r *http.Request)   {}
func (s *Server) adminScenario(w http.ResponseWriter, r *http.Request) {}
