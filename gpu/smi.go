package gpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// smiTimeout bounds one run. Runs never overlap.
	smiTimeout = 10 * time.Second
	// smiShare is how much longer than a run the time until the next one is: on a
	// machine with many GPUs one run takes a second of a core.
	smiShare = 4
)

// smiFields are asked of every GPU, in this order. The first ones are needed; a
// driver that does not know one of the others refuses the whole question, and that
// field is left out from then on.
var smiFields = []string{
	"uuid", "index", "name", "pci.bus_id",
	"utilization.gpu", "utilization.memory", "memory.total", "memory.used", "power.draw", "enforced.power.limit",
	"temperature.gpu", "clocks.current.sm", "clocks.current.memory", "mig.mode.current",
	"clocks_event_reasons.active",
}

const smiNeeded = 3

// smiReader runs nvidia-smi for each reading. It is for builds and machines where
// the driver's library cannot be used, and tells time shares only.
type smiReader struct {
	run        func(ctx context.Context, args ...string) smiOutput
	interval   time.Duration
	host       string
	hostMemory func() (used, total uint64, ok bool)

	fields []string
	names  map[string]smiIdentity // by PCI address, for GPUs that answer no more
	status Status
	due    time.Time // no run before
}

// smiIdentity is what a GPU was called while it answered.
type smiIdentity struct {
	id, name string
	index    int
}

// smiOutput is what one run left behind. code is its exit status, which is a return
// code of NVML; err is set when it could not be run or did not end.
type smiOutput struct {
	stdout, stderr string
	code           int
	err            error
}

// openSMI runs it once; its error is a sentence for people.
func openSMI(ctx context.Context, run func(context.Context, ...string) smiOutput, interval time.Duration) (*smiReader, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	s := &smiReader{run: run, interval: interval, host: host, hostMemory: systemMemory,
		fields: slices.Clone(smiFields), names: map[string]smiIdentity{}}
	if _, err := s.read(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *smiReader) close() {}

func (s *smiReader) read(ctx context.Context) (Status, error) {
	began := time.Now()
	if began.Before(s.due) {
		return s.status, nil
	}
	rows, err := s.query(ctx)
	took := time.Since(began)
	period := max(s.interval, smiShare*took)
	s.due = began.Add(period)
	if err != nil {
		return Status{}, err
	}
	s.status = Status{At: began.Add(took / 2), GPUs: rows, Source: "nvidia-smi", Period: period}
	return s.status, nil
}

// query asks for all fields, again without one that the driver does not know.
func (s *smiReader) query(ctx context.Context) ([]Reading, error) {
	for {
		ctx, cancel := context.WithTimeout(ctx, smiTimeout)
		out := s.run(ctx, "--query-gpu="+strings.Join(s.fields, ","), "--format=csv,noheader,nounits")
		cancel()
		if out.err != nil {
			return nil, out.err
		}
		if field := unknownField(out.stdout + "\n" + out.stderr); field != "" {
			at := slices.Index(s.fields, field)
			if at < smiNeeded {
				return nil, fmt.Errorf("nvidia-smi does not know the field %s: the driver is too old", clean(field))
			}
			s.fields = slices.Delete(s.fields, at, at+1)
			continue
		}
		if rows := s.rows(out); len(rows) > 0 {
			return rows, nil
		}
		return nil, out.failure()
	}
}

// failure says what a run without a single GPU means.
func (o smiOutput) failure() error {
	text := strings.ToLower(o.stdout + "\n" + o.stderr)
	for _, known := range []struct {
		says string
		code code
	}{
		{"version mismatch", codeVersionMismatch}, {"communicate with the nvidia driver", codeDriverNotLoaded},
		{"no devices were found", codeGPUNotFound}, {"insufficient permission", codeNoPermission}, {"gpu is lost", codeGPUIsLost},
	} {
		if strings.Contains(text, known.says) {
			return fmt.Errorf("nvidia-smi: %w", known.code)
		}
	}
	if _, known := codeTexts[code(o.code)]; known && o.code != 0 {
		return fmt.Errorf("nvidia-smi: %w", code(o.code))
	}
	said := clean(strings.TrimSpace(o.stderr + " " + o.stdout))
	switch {
	case o.code != 0 && said != "":
		return fmt.Errorf("nvidia-smi ended with status %d: %s", o.code, said)
	case o.code != 0:
		return fmt.Errorf("nvidia-smi ended with status %d", o.code)
	case said != "":
		return fmt.Errorf("nvidia-smi lists no GPU: %s", said)
	}
	return errors.New("nvidia-smi lists no GPU")
}
