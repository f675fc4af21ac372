// Package smi reads the GPUs of a machine by running nvidia-smi there.
package smi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/gpu"
	"sonde/gpu/nvml"
	"sonde/gpu/tool"
)

const program = "nvidia-smi"

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

// Reader runs nvidia-smi for each reading: time shares, memory and power. Beside it,
// nvidia-smi dmon reports SM activity and bandwidth, on Hopper and newer.
type Reader struct {
	machine  tool.Machine
	paced    tool.Paced
	counters *counters
	cancel   context.CancelFunc

	fields []string
	names  map[string]gpu.Reading // by PCI address, for GPUs that no longer answer
}

// Open runs nvidia-smi once; its error is a sentence for people, or tool.ErrMissing.
func Open(ctx context.Context, m tool.Machine, interval time.Duration) (*Reader, error) {
	s, err := open(ctx, m, interval)
	if err != nil {
		return nil, err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.counters.follow(ctx, m)
	s.counters.await(ctx)
	s.paced.Again() // the next reading has the counters
	return s, nil
}

// open is Open without the counters.
func open(ctx context.Context, m tool.Machine, interval time.Duration) (*Reader, error) {
	s := &Reader{machine: m, paced: tool.Paced{Interval: interval}, counters: newCounters(), cancel: func() {},
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
	return s.paced.Read(gpu.SourceSMI, func() ([]gpu.Reading, error) { return s.query(ctx) })
}

// query asks for all fields, again without one that the driver does not know.
func (s *Reader) query(ctx context.Context) ([]gpu.Reading, error) {
	for {
		out := tool.Run(ctx, s.machine, program, "--query-gpu="+strings.Join(s.fields, ","), "--format=csv,noheader,nounits")
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
	return o.NoGPU(program)
}
