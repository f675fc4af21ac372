package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"sonde/config"
	"sonde/probe"
	"sonde/probe/crew"
	"sonde/probe/plain"
)

// crewOf has the load of a Session sent by workers, as the Config says.
func crewOf(ctx context.Context, c config.Config, opt *probe.Options) error {
	w := &c.Workers
	if w.NATS == "" {
		return nil
	}
	url := w.NATS
	if address, embedded := w.Embedded(); embedded {
		at, stop, err := crew.ServeNATS(address)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, stop)
		url = at
	}
	conn, err := crew.Connect(url, w.Creds, "sonde operator "+hostName())
	if err != nil {
		return Usage(fmt.Errorf("--nats: %w", err))
	}
	if err := crew.CheckFree(ctx, conn, w.Run); err != nil {
		conn.Close()
		return Usage(err)
	}
	job := crew.Job{
		URL: plain.RedactURL(opt.URL), API: opt.API, Model: opt.Model, Prefix: opt.Prefix, Seed: opt.Seed, SeedFixed: c.SeedSet, Idle: opt.Idle,
		MaxConcurrency: opt.MaxConcurrency, Load: opt.Load,
	}
	opt.Remote = func(s probe.RemoteSetup) (probe.Remote, error) {
		o, err := crew.NewOperator(ctx, crew.Options{Conn: conn, Run: w.Run, Job: job, Name: hostName(), Now: s.Now, Note: s.Note, Fail: s.Fail})
		if err != nil {
			conn.Close()
			return nil, err
		}
		return o, nil
	}
	return nil
}

func hostName() string {
	name, _ := os.Hostname()
	return cmp.Or(plain.Line(name, 60), "localhost")
}

// Work takes part in a run as a worker until ctx ends. say prints a line.
func Work(ctx context.Context, c config.Config, say func(string)) error {
	if c.Workers.NATS == "" {
		return Usage(errors.New("--nats is needed: the address of the operator's NATS server, such as nats://host:4222"))
	}
	conn, err := connectInTime(ctx, c, say)
	if err != nil {
		return err
	}
	defer conn.Close()
	if c.URL == "" && (c.APIKey != "" || len(c.Headers) > 0 || c.Cert != "") {
		say("keys, headers and certificates are sent only to a URL given here: sonde worker URL …")
	}
	name := fmt.Sprintf("%s/%d", hostName(), os.Getpid())
	say("worker " + name + " of NATS at " + plain.RedactURL(conn.ConnectedUrl()))
	return crew.Work(ctx, crew.WorkerOptions{
		Conn: conn, Run: c.Workers.Run, Name: name, Say: say, Fail: func(err error) { say(err.Error()) },
		Open: func(ctx context.Context, job crew.Job) (crew.Session, error) { return openShare(ctx, c, job) },
	})
}

// connectInTime tries again until a NATS server answers: that of an operator may begin later.
func connectInTime(ctx context.Context, c config.Config, say func(string)) (*nats.Conn, error) {
	said := ""
	for {
		conn, err := crew.Connect(c.Workers.NATS, c.Workers.Creds, "sonde worker "+hostName())
		switch {
		case err == nil:
			return conn, nil
		case !errors.Is(err, nats.ErrNoServers):
			return nil, Usage(fmt.Errorf("--nats: %w", err))
		case err.Error() != said:
			said = err.Error()
			say(said + ": trying again")
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// openShare connects to what an operator measures, without load. What the Config of the worker says comes first.
func openShare(ctx context.Context, c config.Config, job crew.Job) (crew.Session, error) {
	if c.URL == "" { // whoever writes to NATS chooses the address: nothing secret goes there
		c.APIKey, c.Headers, c.Cert, c.Key = "", nil, "", ""
	}
	c.URL, c.API, c.Model = cmp.Or(c.URL, job.URL), cmp.Or(job.API, c.API), cmp.Or(c.Model, job.Model)
	c.Seed, c.SeedSet, c.Prefix, c.IdleTimeout, c.MaxConcurrency = job.Seed^rand.Uint64(), true, job.Prefix, job.Idle, job.MaxConcurrency
	c.Metrics, c.GPU = "off", "off"
	opt, err := Options(c)
	if err != nil {
		return nil, err
	}
	opt.Load = job.Load
	opt.Load.Concurrency = max(1, opt.Load.Concurrency) // prompts are fitted to their length, also by requests
	session, err := probe.New(opt)
	if err != nil {
		return nil, err
	}
	session.Start(context.WithoutCancel(ctx))
	if err := session.Connect(ctx); err != nil {
		session.Close()
		return nil, err
	}
	session.Calibrate(ctx, job.SeedFixed)
	return session, nil
}

var _ crew.Session = (*probe.Session)(nil)
