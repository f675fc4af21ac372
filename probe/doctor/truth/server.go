package truth

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sonde/probe/api/wire"
	"sonde/probe/guard"
	"sonde/probe/process"
)

// server streams answers as the current Round prescribes.
type server struct {
	epoch time.Time

	mu      sync.Mutex
	round   Round
	began   time.Time
	cpu     time.Duration // of the process when the round began
	records []Record
	fault   string // panic in a goroutine
}

// next begins a round and reports the one before.
func (s *server) next(r Round) Report {
	cpu, _ := process.CPU()
	s.mu.Lock()
	defer s.mu.Unlock()
	report := Report{Records: s.records, CPUNS: int64(cpu - s.cpu), Error: s.fault}
	s.round, s.began, s.cpu, s.records = r, time.Now(), cpu, nil
	return report
}

// listen opens a port on loopback and answers there; secured, if not nil, is for TLS.
func (s *server) listen(secured *tls.Config) (addr string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	guard.Go("scripted server", s.fail, func() {
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
	})
	return l.Addr().String(), nil
}

func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err.Error()
}

func (s *server) since(t time.Time) int64 { return int64(t.Sub(s.epoch)) }

// certify makes a throwaway certificate. Nobody checks it: the client that it is
// for started this server itself.
func certify() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	pair := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// What a reply is made of: the head with a chunk that bears no token, as engines
// send it at once; then a chunk a token; then finish reason, usage and end mark.
const (
	head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	role = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	text = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":{"content":"hello "},"finish_reason":null}]}`
	last = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	uses = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":%d}}`
)

func event(data string) string { return "data: " + data + "\n\n" }

func chunk(body string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }

// maxTokens bounds the answer to one request.
const maxTokens = 1 << 20

// answerAll answers the requests of one connection, one after the other. It ends
// when the client goes away or sends an invalid request.
func (s *server) answerAll(tcp net.Conn, secured *tls.Config) {
	stamped := wire.NewConn(tcp)
	conn := net.Conn(stamped)
	if secured != nil {
		conn = tls.Server(stamped, secured)
	}
	br := bufio.NewReader(conn)
	for {
		number, tokens, err := readRequest(br)
		if err != nil {
			return
		}
		if err := s.answer(conn, stamped.Stamp().At, number, tokens); err != nil {
			return
		}
	}
}

// readRequest reads one request: its number, which is the prompt, and how many
// tokens to answer with.
func readRequest(br *bufio.Reader) (number, tokens int, err error) {
	req, err := http.ReadRequest(br)
	if err != nil {
		return 0, 0, err
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return 0, 0, err
	}
	var body struct {
		Messages [1]struct {
			Content string `json:"content"`
		} `json:"messages"`
		MaxTokens int `json:"max_tokens"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return 0, 0, err
	}
	number, err = strconv.Atoi(body.Messages[0].Content)
	if err == nil && (number < 0 || body.MaxTokens < 1 || body.MaxTokens > maxTokens) {
		err = errors.New("invalid request number or max_tokens")
	}
	return number, body.MaxTokens, err
}

// answer streams one reply, a write per token.
func (s *server) answer(conn io.Writer, arrived time.Time, number, tokens int) error {
	s.mu.Lock()
	round, began := s.round, s.began
	s.mu.Unlock()
	if round.Gap <= 0 {
		return errors.New("request outside a round")
	}
	due := began.Add(round.first(number, arrived.Sub(began)))
	rec := Record{
		Request: number, ArrivedNS: s.since(arrived), DueNS: s.since(due),
		WroteNS: make([]int64, 0, tokens), TookNS: make([]int64, 0, tokens),
	}
	if _, err := io.WriteString(conn, head+chunk(event(role))); err != nil {
		return err
	}
	token := []byte(chunk(event(text)))
	for range tokens {
		time.Sleep(time.Until(due))
		before := time.Now()
		if _, err := conn.Write(token); err != nil {
			return err
		}
		rec.WroteNS = append(rec.WroteNS, s.since(before))
		rec.TookNS = append(rec.TookNS, int64(time.Since(before)))
		due = due.Add(round.Gap)
	}
	s.mu.Lock() // filed before the client can know that its answer has ended
	s.records = append(s.records, rec)
	s.mu.Unlock()
	end := event(last) + event(fmt.Sprintf(uses, tokens)) + "data: [DONE]\n\n"
	_, err := io.WriteString(conn, chunk(end)+"0\r\n\r\n")
	return err
}
