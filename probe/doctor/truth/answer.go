package truth

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"sonde/probe/api/wire"
)

// What a reply is made of: the head with a chunk that bears no token, as engines
// send it at once; then a chunk a token; then finish reason, usage and end mark.
const (
	head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	role = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	text = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":{"content":"hello "},"finish_reason":null}]}`
	last = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	uses = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":%d}}`
)

// maxTokens bounds what one request may ask for.
const maxTokens = 1 << 20

// answerAll answers the requests of one connection, one after the other. A
// client that goes away ends it; so does nonsense.
func (s *Server) answerAll(tcp net.Conn, secured *tls.Config) {
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
		if err := s.answer(conn, stamped.Stamp(), number, tokens); err != nil {
			return
		}
	}
}

// readRequest reads one request: its number, which is the prompt, and how many
// tokens it asks for.
func readRequest(br *bufio.Reader) (number, tokens int, err error) {
	req, err := http.ReadRequest(br)
	if err != nil {
		return 0, 0, err
	}
	var body struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
		MaxTokens int `json:"max_tokens"`
	}
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return 0, 0, err
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return 0, 0, err
	}
	if len(body.Messages) == 0 || body.MaxTokens < 1 || body.MaxTokens > maxTokens {
		return 0, 0, errors.New("the request asks for nothing")
	}
	number, err = strconv.Atoi(body.Messages[0].Content)
	if err == nil && number < 0 {
		err = errors.New("a request's number is below 0")
	}
	return number, body.MaxTokens, err
}

// answer streams one reply, a write per token.
func (s *Server) answer(conn io.Writer, arrival wire.Stamp, number, tokens int) error {
	round, began := s.current()
	if round.Gap <= 0 {
		return errors.New("a request came before the first round")
	}
	due := began.Add(round.first(number, arrival.At.Sub(began)))
	rec := Record{
		Request: number, ArrivedNS: s.since(arrival.At), Kernel: arrival.Kernel, DueNS: s.since(due),
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
	s.file(rec) // before the client can know that its answer has ended
	end := event(last) + event(fmt.Sprintf(uses, tokens)) + "data: [DONE]\n\n"
	_, err := io.WriteString(conn, chunk(end)+"0\r\n\r\n")
	return err
}

func event(data string) string { return "data: " + data + "\n\n" }

func chunk(body string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }
