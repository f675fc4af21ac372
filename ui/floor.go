package ui

import (
	"fmt"

	"sonde/probe/opt"
)

// flooredPanel is a latency panel that also tells what the hardware allows at
// least.
type flooredPanel struct {
	*latencyPanel
	facts func(p *picture) []fact
}

// fact is one figure of the roofline, with its meaning.
type fact struct {
	name  string
	value opt.Float
	write func(float64) string
	means string
}

func tpotFloor(p *picture) []fact {
	r := &p.frame.Roofline
	return []fact{
		{"floor", r.TPOTFloorMS, inMillis, "least time of a decode step: its bytes at peak bandwidth or its arithmetic at peak FLOP/s, the longer of the two"},
		{"MBU", r.MBU, wholePercent, "memory bandwidth utilisation: bytes of a decode step, over the mean TPOT and the peak bandwidth"},
	}
}

func ttftFloor(p *picture) []fact {
	r := &p.frame.Roofline
	return []fact{
		{"floor", r.TTFTFloorMS, inMillis, "least time to prefill the mean prompt alone: its arithmetic at peak FLOP/s or one read of the weights, the longer of the two"},
		{"MFU", r.MFU, wholePercent, "model FLOP/s utilisation: 2 FLOP per active parameter and token, prompts and answers, over the peak"},
	}
}

func inMillis(ms float64) string {
	u := unitFor(ms)
	return u.of(ms) + " " + u.name
}

// wholePercent is for figures that exceed 100 % where more than what was assumed
// is going on, such as several tokens per step: that is worth seeing.
func wholePercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// floorNotes are the figures for the table; nothing where all are unknown.
func floorNotes(t *theme, facts []fact) []figure {
	var notes []figure
	for _, f := range facts {
		if f.value.OK {
			notes = append(notes, figure{f.name + " " + f.write(f.value.V), t.plain})
		}
	}
	return notes
}

func (l *flooredPanel) explain(p *picture) explanation {
	e, r := l.latencyPanel.explain(p), &p.frame.Roofline
	shown := false
	for _, f := range l.facts(p) {
		if f.value.OK {
			e.now = append(e.now, f.name+" "+f.write(f.value.V)+": "+f.means)
			shown = true
		}
	}
	switch {
	case shown:
		e.now = append(e.now, "assumes "+clean(r.Assumes))
	case r.Why != "":
		e.now = append(e.now, "floor "+unknown+": "+clean(r.Why))
	}
	return e
}
