package probe

import (
	"context"
	"net/url"

	"sonde/gpu"
	"sonde/probe/api"
	"sonde/probe/engine"
	"sonde/probe/guard"
)

// askModel asks the engine for the shape of its model, beside everything else: a
// slow answer delays nothing, and no answer leaves the shape to its name. It ends
// with ctx.
func (s *Session) askModel(ctx context.Context, found engine.Config, id engine.Identity) {
	if s.opt.Roofline != nil {
		return // named by hand
	}
	guard.Go("shape of the model", s.Fail, func() {
		told := gpu.Told(engine.AskModel(ctx, found, id))
		s.told.Store(&told)
	})
}

// modelTold is what has been answered so far.
func (s *Session) modelTold() gpu.Told {
	if told := s.told.Load(); told != nil {
		return *told
	}
	return gpu.Told{}
}

// isLocal tells whether a host:port is this machine.
func isLocal(host string) bool { return api.IsLocal(&url.URL{Host: host}) }
