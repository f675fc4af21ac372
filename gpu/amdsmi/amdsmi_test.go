package amdsmi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/gpu/tool"
	"sonde/probe/opt"
)

// machine answers by the program and its first word; what is not there is not installed.
type machine struct {
	tool.Local
	pages map[string]string
}

func (machine) Name() string { return "node" }

func (m machine) Run(_ context.Context, program string, args ...string) tool.Output {
	text, ok := m.pages[program+" "+args[0]]
	if !ok {
		return tool.Output{Err: fmt.Errorf("%s %w", program, tool.ErrMissing)}
	}
	return tool.Output{Text: text}
}

func read(t *testing.T, pages map[string]string) []gpu.Reading {
	t.Helper()
	r, err := Open(t.Context(), machine{pages: pages}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	st, err := r.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st.GPUs
}

const note = " has none; AMD's exporter has SM with the gpu_prof_ metrics"

func TestAMDSMI(t *testing.T) {
	list := `[{"gpu": 1, "usage": {"gfx_activity": {"value": 97, "unit": "%"}, "umc_activity": {"value": 40, "unit": "%"}},
		"power": {"socket_power": {"value": 650, "unit": "W"}}, "clock": {"gfx_0": {"clk": {"value": 2100, "unit": "MHz"}}},
		"temperature": {"edge": "N/A", "hotspot": {"value": 61, "unit": "C"}},
		"mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}, "used_vram": {"value": 1000, "unit": "MB"}}},
		{"gpu": 2, "usage": "N/A", "power": "N/A"}]`
	for name, page := range map[string]string{"list": list, "wrapped": `{"gpu_data": ` + list + `}`, "with a warning": "WARNING: old driver\n" + list} {
		got := read(t, map[string]string{"amd-smi metric": page, "amd-smi static": `{"gpu_data": [{"gpu": 1, "asic": {"market_name": "Instinct MI300X"}}]}`})
		want := gpu.Reading{ID: "node/1", Index: 1, Name: "AMD Instinct MI300X", Source: "amd-smi", Note: "SM and DRAM: amd-smi" + note,
			Busy: opt.Of(0.97), MemBusy: opt.Of(0.4), Power: opt.Of(650), Temperature: opt.Of(61), SMClock: opt.Of(2100e6),
			MemTotal: opt.Of(196592 << 20), MemUsed: opt.Of(1000 << 20)}
		if len(got) != 2 || got[0] != want || got[1].Busy.OK || got[1].Power.OK || got[1].Name != "AMD GPU" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestROCmSMI(t *testing.T) {
	got := read(t, map[string]string{"rocm-smi --showuse": `{"card1": {"GPU use (%)": "3", "Card Series": "N/A"},
		"card0": {"Temperature (Sensor edge) (C)": "35.0", "Temperature (Sensor junction) (C)": "36.0", "Average Graphics Package Power (W)": "19.0",
		"GPU use (%)": "50", "VRAM Total Memory (B)": "34208743424", "VRAM Total Used Memory (B)": "29225381888", "Card Series": "AMD Radeon PRO"},
		"system": {"Driver version": "6.8"}}`})
	want := gpu.Reading{ID: "node/0", Name: "AMD Radeon PRO", Source: "amd-smi", Note: "SM and DRAM: rocm-smi" + note,
		Busy: opt.Of(0.5), Power: opt.Of(19), Temperature: opt.Of(36), MemTotal: opt.Of(34208743424), MemUsed: opt.Of(29225381888)}
	if len(got) != 2 || got[0] != want || got[1].Index != 1 || got[1].Busy.Or(-1) != 0.03 {
		t.Errorf("%+v", got)
	}
}

func TestNoGPUIsAnError(t *testing.T) {
	if _, err := Open(t.Context(), machine{}, time.Second); !errors.Is(err, tool.ErrMissing) {
		t.Error(err)
	}
	for page, want := range map[string]string{
		"":                 "amd-smi lists no GPU",
		"no driver\x1b[0m": "amd-smi lists no GPU: no driver[0m",
		"[1, null]":        "amd-smi lists no GPU: [1, null]",
	} {
		_, err := Open(t.Context(), machine{pages: map[string]string{"amd-smi metric": page}}, time.Second)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", page, err, want)
		}
	}
}
