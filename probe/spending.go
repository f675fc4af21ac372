package probe

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/measure"
)

// watchSpending ends the load when the cap on tokens is reached.
func (s *Session) watchSpending(now time.Duration, ended []measure.Request) []frame.Event {
	for i := range ended {
		s.spent += int64(ended[i].InTokens + ended[i].OutTokens)
	}
	if s.opt.MaxTokensTotal == 0 || s.spent < s.opt.MaxTokensTotal {
		return nil
	}
	if s.Load().Concurrency == 0 {
		return nil
	}
	s.stopLoad()
	return []frame.Event{{At: now, Kind: frame.EventNote, Text: fmt.Sprintf("stopped: %d tokens were used, the cap is %d", s.spent, s.opt.MaxTokensTotal)}}
}
