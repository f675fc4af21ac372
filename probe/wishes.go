package probe

import (
	"fmt"
	"time"

	"sonde/probe/frame"
	"sonde/probe/load"
	"sonde/probe/prompt"
)

// Load is the wish as it stands.
func (s *Session) Load() frame.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wish
}

// SetLoad replaces the wish.
func (s *Session) SetLoad(l frame.Load) {
	s.mu.Lock()
	old := s.wish
	s.mu.Unlock()
	if l == old { // said once more: no load is a wish too, before one has begun
		s.noteWish(l.Concurrency == 0)
		return
	}
	if l = s.opt.clamp(l); l == old {
		return
	}
	s.noteWish(l.Concurrency != old.Concurrency || l.Rate != old.Rate)
	s.apply(l, describeChange(old, l))
}

// stopLoad ends the load by itself, whatever keeps it going. What runs drains.
func (s *Session) stopLoad() {
	l := s.Load()
	l.Concurrency, l.Rate = 0, 0
	s.SetLoad(l)
}

// apply makes l the load and the beginning of a new level, with an event if
// there is something to say.
func (s *Session) apply(l frame.Load, says string) {
	at := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wish = l
	if synthetic, ok := s.opt.Prompts.(*prompt.Synthetic); ok {
		synthetic.SetPrefix(prompt.Prefix(l.Prefix))
	}
	s.todo = append(s.todo, func(time.Duration) { s.beginLevel(at, l) })
	if says != "" {
		s.events = append(s.events, frame.Event{At: at, Kind: frame.EventLoad, Text: says})
	}
	if s.pool != nil { // with the wish under one lock: the two never part
		s.pool.Set(setting(l))
	}
}

func (s *Session) beginLevel(at time.Duration, l frame.Load) {
	target := l.Concurrency
	if l.Rate > 0 {
		target = 0
	}
	s.collector.SetLevel(at, target, l.Concurrency == 0)
}

// SetBudget allows at most n more requests to be sent: 0 = none, −1 = no limit.
// It comes after Connect.
func (s *Session) SetBudget(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pool.SetBudget(n)
}

// SetRamp spreads the beginnings of the streams that a later raise of the concurrency
// adds evenly over a time; it comes after Connect.
func (s *Session) SetRamp(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		s.pool.SetRamp(d)
	}
}

// Abort cancels everything in flight and sets the concurrency to 0.
func (s *Session) Abort() {
	s.mu.Lock()
	pool, l := s.pool, s.wish
	s.mu.Unlock()
	if pool != nil {
		pool.Abort()
	}
	l.Concurrency, l.Rate = 0, 0
	s.noteWish(true)
	s.apply(l, "aborted: everything in flight was cancelled")
}

// ResetStatistics empties windows, levels and counts.
func (s *Session) ResetStatistics() {
	at := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.todo = append(s.todo, s.collector.Reset)
	s.events = append(s.events, frame.Event{At: at, Kind: frame.EventReset, Text: "statistics were reset"})
}

// SetWindow chooses the live window.
func (s *Session) SetWindow(seconds int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.todo = append(s.todo, func(time.Duration) { s.collector.SetWindow(time.Duration(seconds) * time.Second) })
}

func setting(l frame.Load) load.Setting {
	return load.Setting{
		Concurrency: l.Concurrency, Rate: l.Rate, Poisson: l.Poisson,
		InputTokens: l.InputTokens, OutputTokens: l.OutputTokens,
	}
}

// describeChange says what an operator changed.
func describeChange(old, l frame.Load) string {
	switch {
	case l.Rate != old.Rate:
		return fmt.Sprintf("rate %g → %g requests/s", old.Rate, l.Rate)
	case l.Concurrency != old.Concurrency:
		return fmt.Sprintf("concurrency %d → %d", old.Concurrency, l.Concurrency)
	case l.Prefix != old.Prefix:
		return fmt.Sprintf("prompts: %s → %s prefixes", old.Prefix, l.Prefix)
	case l.InputTokens != old.InputTokens:
		return fmt.Sprintf("prompt %d → %d tokens", old.InputTokens, l.InputTokens)
	}
	return fmt.Sprintf("output %d → %d tokens", old.OutputTokens, l.OutputTokens)
}
