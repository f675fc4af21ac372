package report

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sonde/probe/opt"
)

// drawn is what stands in a picture.
type drawn struct {
	points []string // "x y" of every circle
	lines  []string // "x1 y1 x2 y2"
	texts  map[string]string
}

func drawing(t *testing.T, s SweepSummary) drawn {
	t.Helper()
	picture := s.SVG()
	var form struct {
		Circles []struct {
			X string `xml:"cx,attr"`
			Y string `xml:"cy,attr"`
		} `xml:"circle"`
		Lines []struct {
			X1 string `xml:"x1,attr"`
			Y1 string `xml:"y1,attr"`
			X2 string `xml:"x2,attr"`
			Y2 string `xml:"y2,attr"`
		} `xml:"line"`
		Texts []struct {
			Y    string `xml:"y,attr"`
			Text string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal([]byte(picture), &form); err != nil {
		t.Fatalf("%v: %s", err, picture)
	}
	d := drawn{texts: map[string]string{}}
	for _, c := range form.Circles {
		d.points = append(d.points, c.X+" "+c.Y)
	}
	for _, l := range form.Lines {
		d.lines = append(d.lines, fmt.Sprint(l.X1, " ", l.Y1, " ", l.X2, " ", l.Y2))
	}
	for _, x := range form.Texts {
		d.texts[x.Text] = x.Y
	}
	return d
}

// curved is a sweep of 1, 4 and 16 streams.
func curved() SweepSummary {
	s := SweepSummary{SLO: []string{"ttft_p95=500ms"}}
	for _, l := range []struct {
		streams                         int
		rate, slow, fast, p50, p95, p99 float64
	}{{1, 100, 90, 110, 80, 100, 120}, {4, 400, 390, 420, 150, 200, 250}, {16, 500, 450, 540, 700, 900, 1000}} {
		level := Level{Settled: true, SlowestPerS: opt.Of(l.slow), FastestPerS: opt.Of(l.fast)}
		level.Load.Concurrency, level.Rates.OutputPerS = l.streams, opt.Of(l.rate)
		level.LatencyMS.TTFT = Quantiles{N: 100, P50: opt.Of(l.p50), P95: opt.Of(l.p95), P99: opt.Of(l.p99)}
		level.SLO = []SLOResult{{Metric: "ttft", Limit: opt.Of(500)}}
		s.Levels = append(s.Levels, level)
	}
	s.Knee = &KneeFigures{Mark: Mark{Concurrency: 4}}
	s.Best = &BestFigures{Mark: Mark{Concurrency: 4}}
	return s
}

// By hand: loads go over log N from x = 84 + 20 to 740 − 20, so 4 is in the middle of 1 and
// 16. Throughput goes from y = 260 up by 176 at 1.08 × 540, its fastest: 100 is 30.2 up, 400
// 120.7, 500 150.9. TTFT from 480 up by 176 at 1.08 × 1,000, its longest p99: 100 is 16.3
// up, 200 32.6, 900 146.7, the service level at 500 81.5.
func TestPointsOfTheCurve(t *testing.T) {
	d := drawing(t, curved())
	if want := []string{"104.0 229.8", "412.0 139.3", "720.0 109.1", "104.0 463.7", "412.0 447.4", "720.0 333.3"}; !slices.Equal(d.points, want) {
		t.Errorf("points %v, want %v", d.points, want)
	}
	for what, line := range map[string]string{
		"the spread of the throughput at 16: 450 is 135.8 up, 540 163.0": "720.0 124.2 720.0 97.0",
		"the spread of the TTFT at 16: 700 is 114.1 up, 1,000 163.0":     "720.0 365.9 720.0 317.0",
		"the service level": "84.0 398.5 740.0 398.5",
	} {
		if !slices.Contains(d.lines, line) {
			t.Errorf("no line %s: %s in %v", line, what, d.lines)
		}
	}
	if !slices.ContainsFunc(d.lines, func(l string) bool { return strings.HasPrefix(l, "412.0 38.0 412.0 480.0") }) {
		t.Errorf("no mark through both plots at 4: %v", d.lines)
	}
	for _, want := range []string{"output tokens/s", "TTFT p95, ms", "streams in flight (logarithmic)", "SLO 500 ms", "largest within SLO, knee",
		"throughput; bar: slowest and fastest 2 s", "TTFT p95; bar: p50 to p99", "1", "4", "16", "200", "500", "1000"} {
		if _, there := d.texts[want]; !there {
			t.Errorf("no %q in %v", want, d.texts)
		}
	}
}

// A limit far above would flatten the curve: it is told instead. Levels without figures, or
// none at all, are no fault.
func TestPicturesOfLittle(t *testing.T) {
	s := curved()
	for i := range s.Levels {
		s.Levels[i].SLO[0].Limit = opt.Of(9000)
		s.Levels[i].Rates.OutputPerS, s.Levels[i].FastestPerS = opt.Float{}, opt.Float{}
	}
	d := drawing(t, s)
	if _, told := d.texts["SLO 9000 ms is above the chart"]; !told || len(d.points) != 3 {
		t.Errorf("%v", d)
	}
	if d := drawing(t, SweepSummary{}); len(d.points) != 0 {
		t.Errorf("%v", d)
	}
}

func TestTickSteps(t *testing.T) {
	for least, want := range map[float64]float64{0.7: 1, 1: 1, 1.1: 2, 3: 5, 6: 10, 135: 200, 0.03: 0.05} {
		if got := tickStep(least); fmt.Sprintf("%.6g", got) != fmt.Sprintf("%.6g", want) {
			t.Errorf("at least %v: %v, want %v", least, got, want)
		}
	}
}
