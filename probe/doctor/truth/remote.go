package truth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Command is the hidden command that runs the program as a scripted server.
const Command = "testserver"

// Serve is that command. Each line on standard input begins a Round and is answered on
// standard output by a Report. It ends with its standard input.
func Serve() error {
	s := &server{epoch: time.Now()}
	if err := s.listen(); err != nil {
		return err
	}
	rounds, reports := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var r Round
		if rounds.Decode(&r) != nil {
			return nil // the other end is gone
		}
		if err := reports.Encode(s.next(r)); err != nil {
			return err
		}
	}
}

// Remote is a scripted server in another process, and the line to it.
type Remote struct {
	HTTP, HTTPS string // addresses

	Close   func() // ends the server
	rounds  *json.Encoder
	reports *json.Decoder
}

// Start starts a server in a process of its own, so that neither side takes the
// other's processor time or garbage collections. It ends with ctx or Close.
func Start(ctx context.Context) (*Remote, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, Command)
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		return nil, fmt.Errorf("cannot start the scripted server: %w", err)
	}
	r := &Remote{rounds: json.NewEncoder(in), reports: json.NewDecoder(out), Close: func() {
		_ = in.Close() // the server ends with its input
		_ = cmd.Wait()
	}}
	first, err := r.Next(Round{})
	if err != nil {
		r.Close()
		return nil, err
	}
	r.HTTP, r.HTTPS = first.HTTP, first.HTTPS
	return r, nil
}

// Next begins a round and returns what happened in the one before.
func (r *Remote) Next(round Round) (Report, error) {
	var report Report
	err := r.rounds.Encode(round)
	if err == nil {
		err = r.reports.Decode(&report)
	}
	if err != nil {
		err = fmt.Errorf("lost the scripted server: %w", err)
	}
	return report, err
}
