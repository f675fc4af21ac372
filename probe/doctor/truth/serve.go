package truth

import (
	"encoding/json"
	"errors"
	"io"
	"net"

	"sonde/probe/guard"
)

// hello is the server's first line: where it listens.
type hello struct {
	Addr        string `json:"addr"`
	TLSAddr     string `json:"tls_addr"`
	Certificate string `json:"certificate"` // PEM
	Error       string `json:"error,omitempty"`
}

// order is a line to the server: a round to begin, or without one a report of
// the round that ends. Each is answered by one line.
type order struct {
	Round *Round `json:"round,omitempty"`
}

// serve runs a server on loopback and obeys the orders that come in, until there
// are no more. The other end may be a pipe to another process.
func serve(in io.Reader, out io.Writer) error {
	reply := json.NewEncoder(out)
	plain, secured, greeting, s, err := listen()
	if err != nil {
		return errors.Join(err, reply.Encode(hello{Error: err.Error()}))
	}
	defer plain.Close()
	defer secured.Close()
	if err := reply.Encode(greeting); err != nil {
		return err
	}
	orders := json.NewDecoder(in)
	for {
		var o order
		switch err := orders.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var r Report
		if o.Round != nil {
			s.Begin(*o.Round)
		} else {
			r = s.Report()
		}
		if err := reply.Encode(r); err != nil {
			return err
		}
	}
}

// listen opens both listeners, plain and over TLS, and answers on them.
func listen() (plain, secured net.Listener, greeting hello, s *Server, err error) {
	config, certificate, err := certify()
	if err != nil {
		return nil, nil, hello{}, nil, err
	}
	if plain, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, nil, hello{}, nil, err
	}
	if secured, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		_ = plain.Close()
		return nil, nil, hello{}, nil, err
	}
	s = NewServer()
	guard.Go("scripted server", s.fail, func() { s.Serve(plain, nil) })
	guard.Go("scripted server over TLS", s.fail, func() { s.Serve(secured, config) })
	greeting = hello{Addr: plain.Addr().String(), TLSAddr: secured.Addr().String(), Certificate: certificate}
	return plain, secured, greeting, s, nil
}
