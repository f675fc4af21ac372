package scrape

// simKind is our own embedded engine. It publishes vLLM's names, so its owner and
// Server header go before the names of its metrics.
var simKind = kind{
	id: "sonde-sim", name: "sonde sim",
	ownedBy: []string{"sonde-sim"}, server: "sonde-sim",
	paths:    []string{"/metrics"},
	gpuPath:  "/dcgm/metrics",
	about:    []about{{"/version", version}},
	passesOn: true,
}
