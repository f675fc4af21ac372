package report

import (
	"fmt"
	"strings"
)

// floor writes what the hardware allows at least, and how near the run came.
func (t *table) floor(s *Summary) {
	r := &s.Roofline
	var floors, parts []string
	if r.TPOTFloorMS.OK {
		floors = append(floors, "TPOT "+figure(r.TPOTFloorMS)+" ms"+distance(s.LatencyMS.TPOT.Mean, r.TPOTFloorMS.V))
	}
	if r.TTFTFloorMS.OK {
		floors = append(floors, "TTFT "+figure(r.TTFTFloorMS)+" ms")
	}
	if len(floors) > 0 {
		parts = append(parts, "floor: "+strings.Join(floors, ", "))
	}
	if r.MBU.OK {
		parts = append(parts, "MBU "+whole(r.MBU.Scale(100))+" %")
	}
	if r.MFU.OK {
		parts = append(parts, "MFU "+whole(r.MFU.Scale(100))+" %")
	}
	if len(parts) > 0 {
		t.line(strings.Join(parts, " · "))
	}
}

// distance tells how a mean stands to its floor. Below it something is other than
// assumed: several tokens per step, or other hardware.
func distance(mean Number, floor float64) string {
	switch {
	case !mean.OK || floor <= 0:
		return ""
	case mean.V < floor:
		return " (the mean is below it)"
	}
	return fmt.Sprintf(" (%.1f× above)", mean.V/floor)
}

func (t *table) rates(s *Summary) {
	r := &s.Rates
	t.heading("rates", "", "per s", "per min")
	for _, row := range []struct {
		name           string
		second, minute Number
	}{
		{"requests", r.RequestsPerS, r.RPM},
		{"output tokens", r.OutputPerS, r.OutputTPM},
		{"input tokens", r.InputPerS, r.InputTPM},
		{"total tokens", r.TotalPerS, r.TotalTPM},
	} {
		t.line(pad(row.name, nameWidth+countWidth) + t.cell(row.second, false) + t.cell(row.minute, false))
	}
	t.line(pad("output / stream", nameWidth+countWidth) + t.cell(r.OutputPerSStream, false))
	t.linef("streams in flight %s (Little %s) · tokens per chunk %s", figure(s.ConcurrencyMean), figure(s.LittleRatio), figure(s.Tokens.PerChunk))
	t.linef("of the tokens: reasoning %d · cached input %s · partial output %d", s.Tokens.Reasoning, whole(s.Tokens.CachedInput), s.Tokens.PartialOutput)
	c := &s.Client
	t.linef("client: %s stamps · %s ms late (p99) · CPU %s of a core · bursts %s", word(c.Stamps), figure(c.LateMSP99), percent(c.CPU), percent(c.CoalescedShare))
}

func (t *table) engine(s *Summary) {
	e := &s.Engine
	if !e.RunningMean.OK && !e.WaitingMax.OK && !e.KVFillMean.OK && !e.OutputPerS.OK {
		return
	}
	t.heading("engine")
	t.linef("running %s mean · waiting %s max · KV cache %s mean, %s max", figure(e.RunningMean),
		figure(e.WaitingMax), percent(e.KVFillMean), percent(e.KVFillMax))
	t.linef("preemptions %s · prefix hits %s · output %s tok/s", figure(e.Preemptions),
		percent(e.PrefixHitRate), figure(e.OutputPerS))
}

func (t *table) gpus(gpus []GPUFigures) {
	if len(gpus) == 0 {
		return
	}
	t.heading("GPUs")
	for i, g := range gpus {
		t.linef("%d %s", i, plain(g.Name))
		t.linef("  SM %s · DRAM %s · busy %s · %s · %s W · %s", percent(g.SMMean), percent(g.DRAMMean),
			percent(g.BusyMean), gib(g.MemUsedMax), figure(g.PowerWMean), plain(g.Source))
	}
}

func (t *table) slos(s *Summary) {
	if len(s.SLO) == 0 {
		return
	}
	t.heading("SLO")
	for _, r := range s.SLO {
		outcome := "unknown"
		if r.Met != nil {
			outcome = map[bool]string{true: "met", false: "MISSED"}[*r.Met]
		}
		t.linef("%s %s %s", pad(plain(r.SLO), 2*nameWidth), pad(outcome, figureWidth), r.ActualText())
	}
	t.linef("good requests %s, %s per s", percent(s.GoodShare), figure(s.GoodputPerS))
}

func (t *table) errors(list []ErrorCount) {
	if len(list) == 0 {
		return
	}
	t.heading("errors")
	for _, e := range list {
		t.item(fmt.Sprintf("%5d × ", e.Count), e.named())
	}
}

// named is the message with its class, which some messages name themselves.
func (e ErrorCount) named() string {
	if class := string(e.Class) + ":"; !strings.HasPrefix(e.Message, class) {
		return class + " " + e.Message
	}
	return e.Message
}

func (t *table) notes(notes []string) {
	if len(notes) == 0 {
		return
	}
	t.heading("notes")
	for _, n := range notes {
		t.item("- ", n)
	}
}

func (t *table) verdicts(list []Verdict) {
	if len(list) == 0 {
		return
	}
	t.heading("verdict")
	for _, v := range list {
		t.item("▲ ", v.Says)
		for _, e := range v.Evidence {
			t.item("    ", e)
		}
		if v.Advice != "" {
			t.item("  → ", v.Advice)
		}
	}
}
