package compare

import (
	"slices"
	"strings"

	"sonde/probe/measure"
	"sonde/probe/opt"
	"sonde/probe/report"
)

// figure is something that was measured at a load, and is compared.
type figure struct {
	name   string // in JSON and in conditions
	title  string
	kind   kind
	good   direction
	of     func(*report.Level) reading
	single bool // in the table of one load
	levels bool // in the tables of a sweep
	head   bool // a headline figure: judged first
}

// reading is a figure of one run.
type reading struct {
	opt.Float
	weak bool // too few samples are behind it
}

// kind is how a figure is written, and what a change of it is.
type kind int

const (
	millis kind = iota // changes are ratios
	rate               // changes are ratios
	number             // may be 0: changes are differences
	share              // may be 0: changes are differences, in percentage points
)

// ratio reports whether a change of the figure is a ratio.
func (k kind) ratio() bool { return k == millis || k == rate }

// direction is where a figure gets better.
type direction int

const (
	neither direction = 0
	up      direction = 1
	down    direction = -1
)

// figures are all figures of a load, in the order in which they are shown.
var figures = slices.Concat(latencies(), []figure{
	{"output_tokens_per_s", "output tok/s", rate, up, known(func(l *report.Level) opt.Float { return l.Rates.OutputPerS }), true, true, true},
	{"input_tokens_per_s", "input tok/s", rate, up, known(func(l *report.Level) opt.Float { return l.Rates.InputPerS }), false, false, false},
	{"total_tokens_per_s", "tokens/s", rate, up, known(func(l *report.Level) opt.Float { return l.Rates.TotalPerS }), false, false, false},
	{"requests_per_s", "requests/s", rate, up, known(func(l *report.Level) opt.Float { return l.Rates.RequestsPerS }), true, false, false},
	{"goodput_per_s", "goodput/s", rate, up, known(func(l *report.Level) opt.Float { return l.GoodputPerS }), true, true, true},
	{"good_share", "good requests", share, up, known(func(l *report.Level) opt.Float { return l.GoodShare }), false, false, false},
	{"error_share", "errors", share, down, known(func(l *report.Level) opt.Float { return l.Requests.ErrorShare() }), true, true, true},
	{"running_mean", "running", number, neither, known(func(l *report.Level) opt.Float { return l.Engine.RunningMean }), false, false, false},
	{"waiting_max", "waiting max", number, down, known(func(l *report.Level) opt.Float { return l.Engine.WaitingMax }), true, false, false},
	{"kv_fill_mean", "KV cache mean", share, neither, known(func(l *report.Level) opt.Float { return l.Engine.KVFillMean }), false, false, false},
	{"kv_fill_max", "KV cache max", share, neither, known(func(l *report.Level) opt.Float { return l.Engine.KVFillMax }), true, false, false},
	{"preemptions", "preemptions", number, down, known(func(l *report.Level) opt.Float { return l.Engine.Preemptions }), true, false, false},
	{"prefix_hit_rate", "prefix hits", share, up, known(func(l *report.Level) opt.Float { return l.Engine.PrefixHitRate }), true, false, false},
	{"sm_mean", "GPU SM", share, neither, gpus(func(g *report.GPUFigures) opt.Float { return g.SMMean }), true, false, false},
	{"dram_mean", "GPU DRAM", share, neither, gpus(func(g *report.GPUFigures) opt.Float { return g.DRAMMean }), true, false, false},
	{"busy_mean", "GPU busy", share, neither, gpus(func(g *report.GPUFigures) opt.Float { return g.BusyMean }), false, false, false},
	{"power_w_mean", "GPU watts", rate, down, gpus(func(g *report.GPUFigures) opt.Float { return g.PowerWMean }), true, false, false},
	{"mbu", "MBU", share, up, known(func(l *report.Level) opt.Float { return l.Roofline.MBU }), false, false, false},
	{"mfu", "MFU", share, up, known(func(l *report.Level) opt.Float { return l.Roofline.MFU }), false, false, false},
})

func known(of func(*report.Level) opt.Float) func(*report.Level) reading {
	return func(l *report.Level) reading { return reading{Float: of(l)} }
}

// gpus is the mean over the GPUs that report the figure.
func gpus(of func(*report.GPUFigures) opt.Float) func(*report.Level) reading {
	return known(func(l *report.Level) opt.Float { return l.GPUMean(of) })
}

// statistics are those of each latency.
var statistics = []struct {
	name string
	q    float64 // 0 is the mean
}{{"mean", 0}, {"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}}

// Those that are shown without being named in a condition.
var (
	shownSingle = strings.Fields("ttft_p50 ttft_p95 ttft_p99 tpot_p50 tpot_p95 tpot_p99 gap_p99 e2e_p50 e2e_p95 e2e_p99")
	shownLevels = strings.Fields("ttft_p95 tpot_p50 e2e_p50")
	headlines   = strings.Fields("ttft_p50 ttft_p95 tpot_p50 e2e_p50")
)

// titles are how people write the latencies whose names are abbreviations.
var titles = map[string]string{"ttft": "TTFT", "ttfa": "TTFA", "tpot": "TPOT", "e2e": "E2E"}

func latencies() []figure {
	var out []figure
	for _, m := range measure.Metrics {
		title := titles[m.Name]
		if title == "" {
			title = strings.ReplaceAll(m.Name, "_", " ")
		}
		for _, s := range statistics {
			name := m.Name + "_" + s.name
			out = append(out, figure{
				name: name, title: title + " " + s.name, kind: millis, good: down, of: statistic(m.Name, s.name, s.q),
				single: slices.Contains(shownSingle, name), levels: slices.Contains(shownLevels, name), head: slices.Contains(headlines, name),
			})
		}
	}
	return out
}

func statistic(metric, name string, q float64) func(*report.Level) reading {
	return func(l *report.Level) reading {
		d := l.Latency(metric)
		if q == 0 {
			return reading{Float: d.Mean}
		}
		v, _ := d.Quantile(q)
		return reading{v, slices.Contains(d.Weak, name)}
	}
}

// figureNamed is the one of that name; nil if there is none.
func figureNamed(name string) *figure {
	for i := range figures {
		if figures[i].name == name {
			return &figures[i]
		}
	}
	return nil
}
