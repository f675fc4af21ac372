// Package smi reads the GPUs of a machine by running nvidia-smi there.
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
	"sonde/gpu/tool"
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

// ErrMissing: nvidia-smi is not installed.
var ErrMissing = errors.New("nvidia-smi not found")

// Reader runs nvidia-smi for each reading: time shares, memory and power. Beside it,
// nvidia-smi dmon reports SM activity and bandwidth, on Hopper and newer.
type Reader struct {
	run        func(ctx context.Context, args ...string) tool.Output
	interval   time.Duration
	host       string
	hostMemory nvml.HostMemory
	counters   *counters
	cancel     context.CancelFunc

	fields []string
	names  map[string]gpu.Reading // by PCI address, for GPUs that no longer answer
	status gpu.Status
	due    time.Time // no run before
}

// Open runs nvidia-smi once; its error is a sentence for people.
func Open(ctx context.Context, m tool.Machine, interval time.Duration) (*Reader, error) {
	run := func(ctx context.Context, args ...string) tool.Output {
		out := m.Run(ctx, "nvidia-smi", args...)
		if errors.Is(out.Err, tool.ErrMissing) {
			out.Err = ErrMissing
		}
		return out
	}
	s, err := open(ctx, run, m, interval)
	if err != nil {
		return nil, err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.counters.follow(ctx, m)
	s.counters.await(ctx)
	s.due = time.Time{} // the next reading has the counters
	return s, nil
}

func open(ctx context.Context, run func(context.Context, ...string) tool.Output, m tool.Machine, interval time.Duration) (*Reader, error) {
	s := &Reader{run: run, interval: interval, host: m.Name(), hostMemory: m.Memory, counters: newCounters(), cancel: func() {},
		fields: slices.Clone(queryFields), names: map[string]gpu.Reading{}}
	if _, err := s.Read(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends dmon.
func (s *Reader) Close() { s.cancel() }

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
		if out.Err != nil {
			return nil, out.Err
		}
		if field := unknownField(out.Text); field != "" {
			at := slices.Index(s.fields, field)
			if at < needed {
				return nil, fmt.Errorf("nvidia-smi does not know the field %s: the driver is too old", gpu.Clean(field))
			}
			s.fields = slices.Delete(s.fields, at, at+1)
			continue
		}
		if rows := s.rows(out.Text); len(rows) > 0 {
			return rows, nil
		}
		return nil, failure(out)
	}
}

// failure explains a run without a single GPU.
func failure(o tool.Output) error {
	text := strings.ToLower(o.Text)
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
	if c := nvml.Code(o.Code); c.Known() {
		return fmt.Errorf("nvidia-smi: %w", c)
	}
	said := gpu.Clean(strings.TrimSpace(o.Text))
	switch {
	case o.Code != 0 && said != "":
		return fmt.Errorf("nvidia-smi exited with status %d: %s", o.Code, said)
	case o.Code != 0:
		return fmt.Errorf("nvidia-smi exited with status %d", o.Code)
	case said != "":
		return fmt.Errorf("nvidia-smi lists no GPU: %s", said)
	}
	return errors.New("nvidia-smi lists no GPU")
}
