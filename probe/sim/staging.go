package sim

import (
	"math/rand/v2"
	"sync"
	"time"
)

// stage is where a scene plays: the engine.
type stage interface {
	submit(*sequence) bool
	abort(*sequence)
}

// staging is a scene being played: a state machine whose time is what its caller says.
// The seed gives the same requests at the same times in every performance.
type staging struct {
	scene  *scene
	setup  *setup
	random *rand.Rand
	stage  stage
	faults func(Faults) // makes the scene's faults those in force

	began   time.Duration
	act     act
	ends    time.Duration // of the act
	cast    crowd         // of the incident; nobody in some
	next    time.Duration // requests that come on a schedule
	present map[*sequence]bool

	mu       sync.Mutex // guards what follows: the engine's goroutine writes it
	answered []*sequence
	news     chan struct{} // something was answered
}

func newStaging(sc *scene, set *setup, st stage, faults func(Faults), now time.Duration) *staging {
	p := &staging{
		scene: sc, setup: set, stage: st, faults: faults, began: now, act: after, ends: now,
		random: rand.New(rand.NewPCG(set.seed, 0x5ce7e)), present: map[*sequence]bool{}, news: make(chan struct{}, 1),
	}
	if sc.crowd != nil {
		p.cast = sc.crowd(set)
	}
	return p
}

// advance plays up to an instant and tells when there is something to do again.
func (p *staging) advance(now time.Duration) (again time.Duration) {
	if now >= p.ends {
		p.enter(now)
	}
	if p.act != incident || p.cast == (crowd{}) {
		return p.ends
	}
	p.replaceAnswered()
	if p.cast.clients > 0 {
		return p.ends
	}
	for ; p.next <= now; p.next += p.cast.wait(p.random) {
		p.arrive(1)
	}
	return min(p.next, p.ends)
}

// enter begins the act of this instant.
func (p *staging) enter(now time.Duration) {
	a, ends := actAt(now - p.began)
	p.act, p.ends = a, p.began+ends
	if a != incident {
		p.leave()
		p.faults(Faults{})
		return
	}
	trouble, err := ParseFaults(p.scene.trouble)
	if err != nil {
		panic(err) // a row of our own table; a test reads them all
	}
	p.faults(trouble)
	p.next = now
}

// replaceAnswered sends the next request of each client that has its answer.
func (p *staging) replaceAnswered() {
	p.mu.Lock()
	gone := p.answered
	p.answered = nil
	p.mu.Unlock()
	for _, s := range gone {
		delete(p.present, s)
	}
	p.arrive(p.cast.clients - len(p.present))
}

func (p *staging) arrive(n int) {
	for range n {
		s := newSequence(p.cast.request(p.random), p.setup)
		s.sink = func(_ []uint16, end finish) {
			if end != finishNone {
				p.note(s)
			}
		}
		p.present[s] = true
		p.stage.submit(s)
	}
}

// note remembers that a request was answered. It never waits.
func (p *staging) note(s *sequence) {
	p.mu.Lock()
	p.answered = append(p.answered, s)
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// leave lets all other clients hang up.
func (p *staging) leave() {
	for s := range p.present {
		p.stage.abort(s)
	}
	clear(p.present)
}

// end leaves the engine as it was.
func (p *staging) end() {
	p.leave()
	p.faults(Faults{})
}
