// Package truth is a scripted server that knows when it sent each token: it
// streams answers on a fixed schedule, and notes the instant right before each
// write and the arrival of each request. What a client measured can then be
// compared with what happened.
//
// Client and server only ever exchange durations between instants of their own
// clock, so that the two clocks need a common rate and no common zero.
package truth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	"sonde/probe/api/wire"
	"sonde/probe/guard"
	"sonde/probe/process"
)

// Round is how tokens are sent until the next Round. Every answer follows one
// absolute schedule, whenever its request came and however late a write was.
type Round struct {
	Streams int           `json:"streams"`
	Gap     time.Duration `json:"gap_ns"`   // between the tokens of one stream; 0 answers no requests
	InSteps bool          `json:"in_steps"` // all streams at the same instants, else spread over the gap
}

// leadTime is the least time from a request to its first token, so that the head
// of the reply is out by then.
const leadTime = time.Millisecond

// first is when the first token of a request is due, as time since the round
// began; arrived is when the request came.
func (r Round) first(request int, arrived time.Duration) time.Duration {
	offset := time.Duration(0)
	if !r.InSteps && r.Streams > 0 {
		offset = r.Gap * time.Duration(request%r.Streams) / time.Duration(r.Streams)
	}
	steps := max(0, (arrived+leadTime-offset+r.Gap-1)/r.Gap)
	return offset + steps*r.Gap
}

// Record is what the server knows of one request. Instants are nanoseconds since
// the server began.
type Record struct {
	Request   int     `json:"request"`    // number that its prompt carried
	ArrivedNS int64   `json:"arrived_ns"` // when it came
	DueNS     int64   `json:"due_ns"`     // when its first token was due
	WroteNS   []int64 `json:"wrote_ns"`   // right before the write of each token
	TookNS    []int64 `json:"took_ns"`    // how long that write took
}

// Report is what happened in a round.
type Report struct {
	Records []Record `json:"records"`
	CPUNS   int64    `json:"cpu_ns"` // processor time of the server's process in the round; 0 if unknown
	HTTP    string   `json:"http"`   // address
	HTTPS   string   `json:"https"`  // address
}

// server streams answers as the current Round prescribes.
type server struct {
	epoch time.Time

	mu     sync.Mutex
	round  Round
	began  time.Time
	cpu    time.Duration // of the process when the round began
	report Report        // of the round so far
}

// next begins a round and reports the one before.
func (s *server) next(r Round) Report {
	cpu, _ := process.CPU()
	s.mu.Lock()
	defer s.mu.Unlock()
	report := s.report
	report.CPUNS = int64(cpu - s.cpu)
	s.round, s.began, s.cpu, s.report.Records = r, time.Now(), cpu, nil
	return report
}

// stamping makes connections that know when their bytes arrived.
type stamping struct{ net.Listener }

func (l stamping) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return wire.NewConn(c), nil
}

// stampedKey finds the *wire.Conn of a request in its context.
type stampedKey struct{}

// serve answers requests until the listener closes.
func (s *server) serve(l net.Listener) error {
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if secured, ok := c.(*tls.Conn); ok {
				c = secured.NetConn()
			}
			return context.WithValue(ctx, stampedKey{}, c)
		},
	}
	return web.Serve(l)
}

// listen serves on two ports of the loopback interface. Nobody checks the certificate:
// the client that it is for started this server itself.
func (s *server) listen() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	plain, plainErr := net.Listen("tcp", "127.0.0.1:0")
	secured, securedErr := net.Listen("tcp", "127.0.0.1:0")
	if err := errors.Join(plainErr, securedErr); err != nil {
		return err
	}
	s.report.HTTP, s.report.HTTPS = plain.Addr().String(), secured.Addr().String()
	pair := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	secured = tls.NewListener(stamping{secured}, &tls.Config{Certificates: []tls.Certificate{pair}})
	for _, l := range []net.Listener{stamping{plain}, secured} {
		guard.Go("scripted server", func(error) {}, func() { _ = s.serve(l) })
	}
	return nil
}

// A reply begins with a chunk that bears no token, as engines send it at once; then
// comes a chunk a token, the finish reason, usage and the end mark.
const (
	begin = `data: {"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[`
	role  = begin + `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	text  = begin + `{"index":0,"delta":{"content":"hello "},"finish_reason":null}]}` + "\n\n"
	last  = begin + `{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	uses  = begin + `],"usage":{"prompt_tokens":1,"completion_tokens":%d}}` + "\n\ndata: [DONE]\n\n"
)

// maxTokens bounds the answer to one request.
const maxTokens = 1 << 20

// readRequest reads the number of a request, which is its prompt, and how many tokens
// to answer with.
func readRequest(from io.Reader) (number, tokens int, err error) {
	var body struct {
		Messages []struct {
			Content int `json:"content,string"`
		} `json:"messages"`
		MaxTokens int `json:"max_tokens"`
	}
	if err := json.NewDecoder(from).Decode(&body); err != nil {
		return 0, 0, err
	}
	if len(body.Messages) != 1 || body.Messages[0].Content < 0 || body.MaxTokens < 1 || body.MaxTokens > maxTokens {
		return 0, 0, errors.New("invalid request number or max_tokens")
	}
	return body.Messages[0].Content, body.MaxTokens, nil
}

// ServeHTTP streams one reply, a write per token.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Before the body is read: from then on net/http reads ahead.
	arrived := r.Context().Value(stampedKey{}).(*wire.Conn).Stamp().At
	number, tokens, err := readRequest(r.Body)
	s.mu.Lock()
	round, began := s.round, s.began
	s.mu.Unlock()
	if err != nil || round.Gap <= 0 {
		http.Error(w, "not a request of this round", http.StatusBadRequest)
		return
	}
	due := began.Add(round.first(number, arrived.Sub(began)))
	rec := Record{
		Request: number, ArrivedNS: int64(arrived.Sub(s.epoch)), DueNS: int64(due.Sub(s.epoch)),
		WroteNS: make([]int64, 0, tokens), TookNS: make([]int64, 0, tokens),
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	send := func(event string) bool {
		_, err := io.WriteString(w, event)
		return err == nil && control.Flush() == nil
	}
	if !send(role) {
		return
	}
	for range tokens {
		time.Sleep(time.Until(due))
		before := time.Now()
		if !send(text) {
			return
		}
		rec.WroteNS = append(rec.WroteNS, int64(before.Sub(s.epoch)))
		rec.TookNS = append(rec.TookNS, int64(time.Since(before)))
		due = due.Add(round.Gap)
	}
	s.mu.Lock() // filed before the client can know that its answer has ended
	s.report.Records = append(s.report.Records, rec)
	s.mu.Unlock()
	send(last + fmt.Sprintf(uses, tokens))
}
