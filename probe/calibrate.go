package probe

import (
	"context"
	"fmt"
	"time"

	"sonde/probe/api"
	"sonde/probe/prompt"
)

const (
	calibrations    = 3    // requests at most
	closeEnough     = 0.01 // of the asked length
	calibrationOut  = 1    // token
	calibrationWait = 30 * time.Second
)

// Calibrate finds out with a few requests of one output token how many words
// make the asked prompt length, by the server's own count. With a fixed seed the
// lengths then stay as they are, so that the bodies of a run repeat exactly.
// These requests are in no count. A server that fails them is left to the run.
func (s *Session) Calibrate(ctx context.Context, fixedSeed bool) {
	synthetic, ok := s.opt.Prompts.(*prompt.Synthetic)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, calibrationWait)
	defer cancel()
	asked, sent := s.Load().InputTokens, 0
	for range calibrations {
		p := synthetic.Next(asked)
		sent++
		res := s.client.Do(ctx, api.Call{Text: p.Text, MaxTokens: calibrationOut}, unseen{})
		if res.InTokens == 0 {
			break // the server does not count, or does not answer
		}
		synthetic.Learn(p, res.InTokens)
		if off := res.InTokens - asked; max(off, -off) <= max(1, int(closeEnough*float64(asked))) {
			break
		}
	}
	if fixedSeed {
		synthetic.Freeze()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calibration = fmt.Sprintf("prompt length: %d calibration requests are in no count", sent)
}

// unseen watches a request that is in no figure.
type unseen struct{}

func (unseen) Sent(time.Duration) {}

func (unseen) Token(_, _ time.Duration, _ int) {}
