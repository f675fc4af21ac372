package crew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"sonde/probe/plain"
)

// Connect opens a connection to NATS that outlives restarts of the server.
func Connect(url, credentials, name string) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(100*time.Millisecond, time.Second),
		nats.Timeout(5 * time.Second),
	}
	if credentials != "" {
		options = append(options, nats.UserCredentials(credentials))
	}
	if !strings.Contains(url, "://") {
		url = "nats://" + url
	}
	c, err := nats.Connect(url, options...)
	if errors.Is(err, nats.ErrNoServers) {
		return nil, fmt.Errorf("no NATS server answers at %s: %w", plain.RedactURL(url), err)
	}
	if err != nil {
		return nil, fmt.Errorf("NATS: %w", err)
	}
	return c, nil
}

// CheckFree listens for the Plan of another operator, for as long as it takes one to repeat it.
func CheckFree(ctx context.Context, conn *nats.Conn, run string) error {
	plans, err := conn.SubscribeSync(planSubject(run))
	if err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	defer func() { _ = plans.Unsubscribe() }()
	ctx, cancel := context.WithTimeout(ctx, 3*planEvery)
	defer cancel()
	m, err := plans.NextMsgWithContext(ctx)
	if err != nil {
		return nil // silence
	}
	var p Plan
	if err := decode(m.Data, &p); err != nil {
		return err
	}
	if p.Ended {
		return nil
	}
	return fmt.Errorf("run %q is already driven from %s: choose another name with --run", run, cmp.Or(p.Host, "another machine"))
}

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
