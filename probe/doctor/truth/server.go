package truth

import (
	"crypto/tls"
	"net"
	"sync"
	"time"

	"sonde/probe/guard"
	"sonde/probe/process"
)

// Server streams answers as the Round says.
type Server struct {
	epoch time.Time

	mu      sync.Mutex
	round   Round
	began   time.Time
	cpu     time.Duration // of the process when the round began
	records []Record
	fault   string // what broke in a goroutine
}

// NewServer makes a Server whose instants count from now.
func NewServer() *Server {
	return &Server{epoch: time.Now()}
}

// Begin starts a round: earlier records are forgotten.
func (s *Server) Begin(r Round) {
	cpu, _ := process.CPU()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.round, s.began, s.cpu, s.records = r, time.Now(), cpu, nil
}

// Report tells what happened since Begin.
func (s *Server) Report() Report {
	cpu, known := process.CPU()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Records: s.records, Error: s.fault}
	if known {
		r.CPUNS = int64(cpu - s.cpu)
	}
	return r
}

// Serve answers on the listener until it is closed; with a certificate over TLS.
func (s *Server) Serve(l net.Listener, secured *tls.Config) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		guard.Go("scripted server", s.fail, func() {
			defer c.Close()
			s.answerAll(c, secured)
		})
	}
}

func (s *Server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err.Error()
}

func (s *Server) current() (Round, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.round, s.began
}

func (s *Server) file(r Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, r)
}

func (s *Server) since(t time.Time) int64 { return int64(t.Sub(s.epoch)) }
