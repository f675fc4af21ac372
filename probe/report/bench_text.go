package report

import (
	"fmt"
	"strings"

	"sonde/probe/report/page"
)

// The sections that only text has: Markdown lists the same figures as rows.

func (s *Summary) requestSection() page.Section {
	r := &s.Requests
	lines := []string{fmt.Sprintf("sent %d   ok %d   failed %d   cancelled %d   excluded %d", r.Sent, r.OK, r.Failed, r.Cancelled, r.Excluded)}
	if n := r.ByClass["loading"]; n > 0 {
		lines = append(lines, fmt.Sprintf("%d more were refused while the model was loading", n))
	}
	return page.Section{Title: "requests", Lines: lines}
}

// floor is what the hardware allows at least, and how near the run came.
func (s *Summary) floor() []string {
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
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, " · ")}
}

// distance is how a mean compares with its floor. Below it something is other than
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

func (s *Summary) rateSection() page.Section {
	r := &s.Rates
	out := perTime("rates", [][3]string{
		{"requests", figure(r.RequestsPerS), figure(r.RPM)},
		{"output tokens", figure(r.OutputPerS), figure(r.OutputTPM)},
		{"input tokens", figure(r.InputPerS), figure(r.InputTPM)},
		{"total tokens", figure(r.TotalPerS), figure(r.TotalTPM)},
		{"output / stream", figure(r.OutputPerSStream), ""},
	})
	t, c := &s.Tokens, &s.Client
	out.Lines = []string{
		fmt.Sprintf("streams in flight %s (Little %s) · tokens per chunk %s", figure(s.ConcurrencyMean), figure(s.LittleRatio), figure(t.PerChunk)),
		fmt.Sprintf("of the tokens: reasoning %d · cached input %s · partial output %d", t.Reasoning, whole(t.CachedInput), t.PartialOutput),
		fmt.Sprintf("client: %s stamps · %s ms late (p99) · CPU %s of a core · bursts %s", word(c.Stamps), figure(c.LateMSP99), percent(c.CPU), percent(c.CoalescedShare)),
	}
	return out
}

// perTime is a table of rates, per second and per minute.
func perTime(title string, rows [][3]string) page.Section {
	out := page.Section{Columns: []page.Column{{Title: title, Width: nameWidth + countWidth, Left: true}, {Title: "per s", Width: figureWidth}, {Title: "per min", Width: figureWidth}}}
	for _, r := range rows {
		out.Rows = append(out.Rows, r[:])
	}
	return out
}

func (s *Summary) engineSection() page.Section {
	e := &s.Engine
	if !e.RunningMean.OK && !e.WaitingMax.OK && !e.KVFillMean.OK && !e.OutputPerS.OK {
		return page.Section{}
	}
	return page.Section{Title: "engine", Lines: []string{
		fmt.Sprintf("running %s mean · waiting %s max · KV cache %s mean, %s max", figure(e.RunningMean), figure(e.WaitingMax), percent(e.KVFillMean), percent(e.KVFillMax)),
		fmt.Sprintf("preemptions %s · prefix hits %s · output %s tok/s", figure(e.Preemptions), percent(e.PrefixHitRate), figure(e.OutputPerS)),
	}}
}

func (s *Summary) gpuSection() page.Section {
	out := page.Section{Title: "GPUs"}
	for i, g := range s.GPUs {
		out.Lines = append(out.Lines, fmt.Sprintf("%d %s", i, g.Name), fmt.Sprintf("  SM %s · DRAM %s · busy %s · %s · %s W · %s",
			percent(g.SMMean), percent(g.DRAMMean), percent(g.BusyMean), gib(g.MemUsedMax), figure(g.PowerWMean), g.Source))
	}
	return out
}
