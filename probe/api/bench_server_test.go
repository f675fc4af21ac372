package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The benchmarks' server is this test binary, started a second time: its work
// must not count as the client's.
const benchServerEnv = "SONDE_BENCH_SERVER"

const benchStreams = 256 // of the cost benchmarks: one busy engine

func TestMain(m *testing.M) {
	if spec := os.Getenv(benchServerEnv); spec != "" {
		if err := serveBench(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// benchLoad is how the server streams.
type benchLoad struct {
	perSecond int  // tokens a second on each stream
	steps     bool // all streams at the same instants, as an engine's steps
}

func (l benchLoad) String() string { return fmt.Sprintf("%d %t", l.perSecond, l.steps) }

// benchServer starts the server and returns its URL. It ends with the benchmark.
func benchServer(b *testing.B, load benchLoad) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), benchServerEnv+"="+load.String(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe() // its end is the server's end
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal("the server does not start")
	}
	return "http://" + strings.TrimSpace(addr)
}

// serveBench serves until the standard input ends.
func serveBench(spec string) error {
	var load benchLoad
	if _, err := fmt.Sscan(spec, &load.perSecond, &load.steps); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	base := time.Now()
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go load.serve(c, n, base)
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// serve answers the requests of one connection.
func (l benchLoad) serve(c net.Conn, n int, base time.Time) {
	defer c.Close()
	br := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		var asked struct {
			MaxTokens int `json:"max_tokens"`
		}
		if json.NewDecoder(req.Body).Decode(&asked) != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		if l.answer(c, n, base, asked.MaxTokens) != nil {
			return
		}
	}
}

const benchChunk = `{"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1787228300,"model":"m","choices":[{"index":0,"delta":{"content":"hello "},"finish_reason":null}]}`

const benchHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// answer streams tokens, each as one chunk in one write. Streams are spread
// evenly over the gap, or all in step.
func (l benchLoad) answer(c net.Conn, n int, base time.Time, tokens int) error {
	gap := time.Second / time.Duration(l.perSecond)
	next := base.Add(time.Since(base).Truncate(gap) + gap)
	if !l.steps {
		next = next.Add(gap * time.Duration(n%benchStreams) / benchStreams)
	}
	if _, err := io.WriteString(c, benchHead); err != nil {
		return err
	}
	token := []byte(chunked(event(benchChunk)))
	for range tokens {
		time.Sleep(time.Until(next))
		if _, err := c.Write(token); err != nil {
			return err
		}
		next = next.Add(gap)
	}
	end := finished("stop") + usageChunk(5, tokens) + doneMark
	_, err := io.WriteString(c, chunked(end)+"0\r\n\r\n")
	return err
}
