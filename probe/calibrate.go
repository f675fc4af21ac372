package probe

import (
	"context"
	"fmt"

	"sonde/probe/api"
	"sonde/probe/engine"
	"sonde/probe/prompt"
)

const (
	calibrations = 4     // questions to the tokenizer at most
	closeEnough  = 0.002 // of the asked length
	worthANote   = 0.02
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
	asked, chat := s.Load().InputTokens, s.addr.Kind == api.Chat
	for n := range calibrations {
		p := synthetic.Next(asked)
		tokens, ok := engine.CountTokens(ctx, config, id, p.Text, chat)
		if !ok {
			break
		}
		synthetic.Learn(p, tokens)
		off := max(tokens-asked, asked-tokens)
		if off <= int(closeEnough*float64(asked)) {
			break
		}
		if n == calibrations-1 && off > int(worthANote*float64(asked)) {
			s.Note(fmt.Sprintf("no prompt of %d tokens could be made: the tokenizer counts %d", asked, tokens))
		}
	}
	if fixedSeed {
		synthetic.Freeze()
	}
}
