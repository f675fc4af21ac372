package headless

import (
	"fmt"
)

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
	t.linef("of the tokens: reasoning %d · cached input %d · partial output %d", s.Tokens.Reasoning, s.Tokens.CachedInput, s.Tokens.PartialOutput)
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
		actual := figure(r.Actual) + " ms"
		if r.Metric == metricSuccess {
			actual = percent(r.Actual)
		}
		t.linef("%s %s %s", pad(plain(r.SLO), 2*nameWidth), pad(outcome, figureWidth), actual)
	}
	t.linef("good requests %s, %s per s", percent(s.GoodShare), figure(s.GoodputPerS))
}

func (t *table) errors(list []ErrorCount) {
	if len(list) == 0 {
		return
	}
	t.heading("errors")
	for _, e := range list {
		t.item(fmt.Sprintf("%5d × ", e.Count), string(e.Class)+": "+e.Message)
	}
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
