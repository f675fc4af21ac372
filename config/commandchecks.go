package config

import "slices"

// checkFormat refuses a format that the command cannot write. One that is not from the
// command line is meant for other commands.
func (r *resolved) checkFormat() error {
	c, known := &r.config, r.command.formats
	if c.Format == "" || slices.Contains(known, c.Format) {
		return nil
	}
	if r.origins["format"].rank == rankFlag {
		return r.fail("format", "must be "+oneOf(known)+" for sonde "+r.command.name)
	}
	c.Format = ""
	return nil
}

func checkBench(r *resolved) error {
	return r.checkLoaded("a benchmark")
}

// checkLoaded refuses a run without load, or whose summary would overwrite its recording.
func (r *resolved) checkLoaded(run string) error {
	c := &r.config
	if c.Concurrency == 0 {
		return r.fail("concurrency", "must be at least 1: "+run+" needs load")
	}
	if c.Out != "" && c.Out == c.Record {
		return r.fail("out", "must differ from the --record file")
	}
	return nil
}

// checkSweep settles which loop the levels are of. In an open loop --concurrency is the
// cap, and an automatic ladder begins at --rate; in a closed one it begins at --concurrency.
func checkSweep(r *resolved) error {
	c := &r.config
	s := &c.Sweep
	switch {
	case c.Rate > 0 && len(s.Amounts) > 0:
		return r.fail("rate", "sets where --levels auto starts: omit it, or write levels as 1/s,2/s")
	case c.Rate > 0:
		s.Open = true
	case s.Open && !r.given("concurrency"):
		c.Concurrency = c.MaxConcurrency
		r.origins["concurrency"] = origin{rankDefault, "max-concurrency"}
	}
	if err := r.checkFormat(); err != nil {
		return err
	}
	return r.checkLoaded("a sweep")
}

func checkDoctor(r *resolved) error {
	c := &r.config
	if c.Calibrate && r.origins["url"].rank == rankFlag {
		return r.fail("url", "--calibrate tests this machine: omit the URL")
	}
	return r.checkFormat()
}
