// Package smi reads this machine's GPUs by running nvidia-smi.
package smi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
)

const (
	// runTimeout bounds one run. Runs never overlap.
	runTimeout = 10 * time.Second
	// pauseShare is how much longer than a run the time until the next one is: on a
	// machine with many GPUs one run takes a second of a core.
	pauseShare = 4
)

// queryFields are queried for every GPU, in this order. The first ones are needed; a
// driver that does not know one of the others refuses the whole query, and that
// field is omitted from then on.
var queryFields = []string{
	"uuid", "index", "name", "pci.bus_id",
	"utilization.gpu", "utilization.memory", "memory.total", "memory.used", "power.draw", "enforced.power.limit",
	"temperature.gpu", "clocks.current.sm", "clocks.current.memory", "mig.mode.current",
	"clocks_event_reasons.active",
}

const needed = 3

// Reader runs nvidia-smi for each reading. It is for builds and machines where
// the driver's library cannot be used, and reports time shares only.
type Reader struct {
	run        func(ctx context.Context, args ...string) output
	interval   time.Duration
	hostMemory nvml.HostMemory

	fields []string
	names  map[string]gpu.Reading // by PCI address, for GPUs that no longer answer
	status gpu.Status
	due    time.Time // no run before
}

// output is what one run left behind. code is its exit status, which is a return
// code of NVML; err is set when it could not be run or did not end.
type output struct {
	text string // of both streams
	code int
	err  error
}

// Open runs nvidia-smi once; its error is a sentence for people.
func Open(ctx context.Context, interval time.Duration) (*Reader, error) {
	return open(ctx, runTool, interval)
}

func open(ctx context.Context, run func(context.Context, ...string) output, interval time.Duration) (*Reader, error) {
	s := &Reader{run: run, interval: interval, hostMemory: nvml.SystemMemory,
		fields: slices.Clone(queryFields), names: map[string]gpu.Reading{}}
	if _, err := s.Read(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close has nothing to release.
func (s *Reader) Close() {}

// Read runs nvidia-smi when it is due, else it returns the last readings.
func (s *Reader) Read(ctx context.Context) (gpu.Status, error) {
	began := time.Now()
	if began.Before(s.due) {
		return s.status, nil
	}
	rows, err := s.query(ctx)
	took := time.Since(began)
	period := max(s.interval, pauseShare*took)
	s.due = began.Add(period)
	if err != nil {
		return gpu.Status{}, err
	}
	s.status = gpu.Status{At: began.Add(took / 2), GPUs: rows, Source: gpu.SourceSMI, Period: period}
	return s.status, nil
}

// query asks for all fields, again without one that the driver does not know.
func (s *Reader) query(ctx context.Context) ([]gpu.Reading, error) {
	for {
		ctx, cancel := context.WithTimeout(ctx, runTimeout)
		out := s.run(ctx, "--query-gpu="+strings.Join(s.fields, ","), "--format=csv,noheader,nounits")
		cancel()
		if out.err != nil {
			return nil, out.err
		}
		if field := unknownField(out.text); field != "" {
			at := slices.Index(s.fields, field)
			if at < needed {
				return nil, fmt.Errorf("nvidia-smi does not know the field %s: the driver is too old", gpu.Clean(field))
			}
			s.fields = slices.Delete(s.fields, at, at+1)
			continue
		}
		if rows := s.rows(out.text); len(rows) > 0 {
			return rows, nil
		}
		return nil, out.failure()
	}
}

// failure explains a run without a single GPU.
func (o output) failure() error {
	text := strings.ToLower(o.text)
	for _, known := range []struct {
		text string
		code nvml.Code
	}{
		{"version mismatch", nvml.CodeVersionMismatch}, {"communicate with the nvidia driver", nvml.CodeDriverNotLoaded},
		{"no devices were found", nvml.CodeGPUNotFound}, {"insufficient permission", nvml.CodeNoPermission}, {"gpu is lost", nvml.CodeGPUIsLost},
	} {
		if strings.Contains(text, known.text) {
			return fmt.Errorf("nvidia-smi: %w", known.code)
		}
	}
	if c := nvml.Code(o.code); c.Known() {
		return fmt.Errorf("nvidia-smi: %w", c)
	}
	said := gpu.Clean(strings.TrimSpace(o.text))
	switch {
	case o.code != 0 && said != "":
		return fmt.Errorf("nvidia-smi exited with status %d: %s", o.code, said)
	case o.code != 0:
		return fmt.Errorf("nvidia-smi exited with status %d", o.code)
	case said != "":
		return fmt.Errorf("nvidia-smi lists no GPU: %s", said)
	}
	return errors.New("nvidia-smi lists no GPU")
}
