package truth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Command is the hidden command that runs the program as a scripted server.
const Command = "testserver"

// Addresses are where the server listens: its first line on standard output.
type Addresses struct {
	HTTP  string `json:"http"`
	HTTPS string `json:"https"`
}

// Serve is that command. Each line on standard input begins a Round, and is
// answered on standard output by the Report of the round before. It ends with its
// standard input.
func Serve() error {
	s := &server{epoch: time.Now()}
	config, err := certify()
	if err != nil {
		return err
	}
	var at Addresses
	if at.HTTP, err = s.listen(nil); err != nil {
		return err
	}
	if at.HTTPS, err = s.listen(config); err != nil {
		return err
	}
	rounds, replies := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var r Round
	for err = replies.Encode(at); err == nil; err = replies.Encode(s.next(r)) {
		if err := rounds.Decode(&r); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
	return err
}

// Remote is a scripted server in another process, and the line to it.
type Remote struct {
	Addresses

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
	if err := r.reports.Decode(&r.Addresses); err != nil {
		r.Close()
		return nil, fmt.Errorf("cannot start the scripted server: %w", err)
	}
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
		return Report{}, fmt.Errorf("lost the scripted server: %w", err)
	}
	return report, nil
}
