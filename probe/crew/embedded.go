package crew

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// largestMessage is what the embedded server takes: a Frame of a worker with thousands of streams.
const largestMessage = 8 << 20

// ServeNATS runs a NATS server in this process, at host:port. It returns its address, and what stops it.
func ServeNATS(address string) (url string, stop func(), err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, err
	}
	if l, err := net.Listen("tcp", address); err != nil { // the server only logs it
		return "", nil, fmt.Errorf("NATS: %w", err)
	} else {
		_ = l.Close()
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return "", nil, err
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{Host: host, Port: number, NoSigs: true, NoLog: true, MaxPayload: largestMessage})
	if err != nil {
		return "", nil, fmt.Errorf("NATS: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(5 * time.Second) {
		s.Shutdown()
		return "", nil, fmt.Errorf("NATS: the embedded server does not start at %s", address)
	}
	return s.ClientURL(), func() { s.Shutdown(); s.WaitForShutdown() }, nil
}
