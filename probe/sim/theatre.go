package sim

import (
	"context"
	"sync"
	"time"

	"sonde/probe/guard"
)

// theatre plays one scenario at a time.
type theatre struct {
	mu      sync.Mutex
	playing *performance // nil: none
}

// performance is a scene that plays in real time.
type performance struct {
	scene  *scene
	began  time.Duration // on the engine's clock
	cancel context.CancelFunc
	over   chan struct{}
}

// Play starts a scenario from its beginning, in the place of one that plays. ""
// ends what plays. It goes on until the engine ends.
func (s *Server) Play(name string) error {
	var sc *scene
	if name != "" {
		var err error
		if sc, err = sceneNamed(name); err != nil {
			return err
		}
	}
	t := &s.theatre
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.playing != nil {
		t.playing.cancel()
		<-t.playing.over
		t.playing = nil
	}
	if sc == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &performance{scene: sc, began: s.driver.now(), cancel: cancel, over: make(chan struct{})}
	t.playing = p
	guard.Go("embedded engine: scenario", s.driver.stop, func() {
		defer close(p.over)
		s.perform(ctx, p)
	})
	return nil
}

// perform plays until ctx or the engine ends.
func (s *Server) perform(ctx context.Context, p *performance) {
	staged := newStaging(p.scene, &s.setup, s.driver, s.trouble.play, p.began)
	defer staged.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(staged.advance(s.driver.now()) - s.driver.now())
		select {
		case <-timer.C:
		case <-staged.news:
		case <-ctx.Done():
			return
		case <-s.driver.ended:
			return
		}
	}
}

// Playing is the scenario that plays, "" if none does, with the act it is in and
// the time until the next.
func (s *Server) Playing() (name, part string, left time.Duration) {
	t := &s.theatre
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.playing == nil {
		return "", "", 0
	}
	since := s.driver.now() - t.playing.began
	a, ends := actAt(since)
	return t.playing.scene.Name, actNames[a], ends - since
}
