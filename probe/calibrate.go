package probe

import (
	"context"

	"sonde/probe/api"
	"sonde/probe/engine"
	"sonde/probe/prompt"
)

const (
	calibrations = 4     // questions to the tokenizer at most
	closeEnough  = 0.002 // of the asked length
)

// Calibrate finds out from the engine's tokenizer how many words make the asked
// prompt length. Engines without one teach it by the usage of their first
// answers. With a fixed seed nothing more is learned after this, so that the
// bodies of a run repeat exactly. Nothing is generated, and it cannot fail.
func (s *Session) Calibrate(ctx context.Context, fixedSeed bool) {
	synthetic, ok := s.opt.Prompts.(*prompt.Synthetic)
	if !ok {
		return
	}
	config, id := s.engineConfig(), s.engine.Latest().Identity
	asked, chat := s.Load().InputTokens, api.Kind(s.opt.API) == api.Chat
	for range calibrations {
		p := synthetic.Next(asked)
		tokens, ok := engine.CountTokens(ctx, config, id, p.Text, chat)
		if !ok {
			break
		}
		synthetic.Learn(p, tokens)
		if off := tokens - asked; max(off, -off) <= int(closeEnough*float64(asked)) {
			break
		}
	}
	if fixedSeed {
		synthetic.Freeze()
	}
}
