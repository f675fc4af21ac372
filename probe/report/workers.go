package report

import (
	"fmt"

	"sonde/probe/frame"
	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/report/page"
)

func workersOf(list []frame.Worker) (out []WorkerFigures) {
	for i := range list {
		w := &list[i]
		f := WorkerFigures{
			Name: w.Name, State: w.State.String(), Sent: w.Begun, OutputTokens: w.OutTokens, CPU: RoundedShare(w.Health.CPU),
			LateMSP99: Rounded(opt.Of(w.Health.LateMsP99)), ClockWithinMS: Rounded(opt.Of(measure.MS(w.ClockWithin))), Doubt: Text(w.Why),
		}
		if w.Health.Bottleneck {
			f.Doubt = Text(w.Health.Why)
		}
		out = append(out, f)
	}
	return out
}

// workerSection has a row for each worker.
func (s *Summary) workerSection() page.Section {
	out := page.Section{Columns: []page.Column{
		{Title: "worker", Width: 22, Left: true}, {Title: "state", Width: 11, Left: true}, {Title: "sent", Width: figureWidth},
		{Title: "tokens", Width: figureWidth + 2}, {Title: "CPU", Width: figureWidth}, {Title: "late p99", Width: figureWidth + 1}, {Title: "clock ±ms", Width: figureWidth + 3},
	}}
	for _, w := range s.Client.Workers {
		out.Rows = append(out.Rows, []string{
			w.Name, w.State, fmt.Sprint(w.Sent), fmt.Sprint(w.OutputTokens), percent(w.CPU), figure(w.LateMSP99), figure(w.ClockWithinMS),
		})
		if w.Doubt != "" {
			out.Lines = append(out.Lines, w.Name+": "+string(w.Doubt))
		}
	}
	return out
}
