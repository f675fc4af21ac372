// Package doctor says what can be seen from here and what cannot, and how right
// the measurement is: a checklist for an endpoint, and a calibration against a
// server that knows the truth.
package doctor

import (
	"context"

	"sonde/probe"
	"sonde/probe/doctor/truth"
)

// Options are what the checklist is about.
type Options struct {
	probe.Options          // as for a measurement; without URL only this machine is examined
	Insecure      bool     // the certificate is not checked
	Watch         bool     // send no request
	Terminal      Terminal // what the program is shown on
}

// ServeScripted is the process that Calibrate measures.
func ServeScripted() error { return truth.Serve() }

// Examine goes through the checklist. It sends one streaming request of a few
// tokens at most. What depends on a failed check is skipped.
func Examine(ctx context.Context, o Options) *Report {
	r := &Report{Schema: ReportSchema}
	if o.URL == "" {
		r.localGPU(ctx, o.GPU)
	} else if addr, ok := r.reach(ctx, o); ok {
		r.endpoint(ctx, o, addr)
	}
	r.machine(o.Terminal)
	r.conclude()
	return r
}
