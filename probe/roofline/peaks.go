package roofline

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"sonde/probe/opt"
)

// Peaks are the vendor's theoretical maxima of one device. About 80 % of the
// bandwidth and of the FLOP/s are attainable.
type Peaks struct {
	Name        string    // marketing name
	Memory      float64   // bytes, marketing capacity; 0: unknown
	Bandwidth   float64   // bytes/s, decimal as vendors count
	BF16        float64   // dense tensor FLOP/s; FP16 on parts without BF16; 0: unknown
	FP8         opt.Float // dense tensor FLOP/s; unknown: no FP8 hardware
	Approximate bool      // derived, or seen in one place only: show with "≈"
	Source      string    // where the numbers are from
}

//go:embed gpus.csv
var peaksCSV string

// peakRow is one line of gpus.csv; the first row that matches a name wins.
type peakRow struct {
	match *regexp.Regexp // against the normalised name
	whole Peaks          // of a GPU that is not split (MIG)
}

var peakTable = sync.OnceValue(func() []peakRow {
	lines, err := csv.NewReader(strings.NewReader(peaksCSV)).ReadAll()
	if err != nil {
		panic("gpus.csv: " + err.Error()) // embedded, and read by a test
	}
	rows := make([]peakRow, 0, len(lines))
	for _, line := range lines[1:] {
		rows = append(rows, newPeakRow(line))
	}
	return rows
})

// newPeakRow reads name_match, marketing_name, memory_gb, bandwidth_gbs,
// bf16_dense_tflops, fp8_dense_tflops (may be empty), source.
func newPeakRow(line []string) peakRow {
	number := func(i int) float64 {
		v, err := strconv.ParseFloat(line[i], 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	source := line[6]
	return peakRow{
		match: regexp.MustCompile(line[0]),
		whole: Peaks{
			Name:        line[1],
			Memory:      number(2) * 1e9,
			Bandwidth:   number(3) * 1e9,
			BF16:        number(4) * 1e12,
			FP8:         opt.Of(number(5) * 1e12),
			Approximate: strings.HasPrefix(source, "UNVERIFIED") || strings.Contains(source, "DERIVED"),
			Source:      source,
		},
	}
}

// PeaksFor looks a device up by the name its driver or exporter gives. A MIG
// instance gets its share: memory slices of the bandwidth, compute slices (of
// seven) of the FLOP/s.
func PeaksFor(name string) (Peaks, bool) {
	whole, slice := normaliseName(name)
	for _, row := range peakTable() {
		if row.match.MatchString(whole) {
			return row.share(slice), true
		}
	}
	return Peaks{}, false
}

// migSlice is a MIG profile such as 3g.40gb: compute slices and nominal memory.
type migSlice struct{ compute, memoryGB float64 }

var (
	separators = regexp.MustCompile(`[\s_-]+`)
	migSuffix  = regexp.MustCompile(` mig (\d+)g\.(\d+)gb.*$`)
)

// normaliseName makes a device name lower case, replaces every run of blanks, _ and -
// by one blank, and splits off a trailing MIG profile. The slice is zero without one.
func normaliseName(name string) (string, migSlice) {
	n := strings.TrimSpace(separators.ReplaceAllString(strings.ToLower(name), " "))
	m := migSuffix.FindStringSubmatch(n)
	if m == nil {
		return n, migSlice{}
	}
	compute, _ := strconv.ParseFloat(m[1], 64) // digits only: cannot fail
	memory, _ := strconv.ParseFloat(m[2], 64)
	return strings.TrimSuffix(n, m[0]), migSlice{compute, memory}
}

func (r peakRow) share(s migSlice) Peaks {
	p := r.whole
	if s == (migSlice{}) {
		return p
	}
	memory, compute := math.Min(1, s.memoryGB*1e9/p.Memory), math.Min(1, s.compute/7)
	p.Memory *= memory
	p.Bandwidth *= memory
	p.BF16 *= compute
	p.FP8 = p.FP8.Scale(compute)
	p.Approximate = true
	return p
}

// FLOPs is the peak of products with 8-bit operands, or with 16-bit ones. Without
// 8-bit tensor cores engines widen such operands first.
func (p Peaks) FLOPs(eightBit bool) float64 {
	if eightBit {
		return p.FP8.Or(p.BF16)
	}
	return p.BF16
}

// Peaks are those of the table. Where the driver's own bandwidth differs by more than
// 7 %, the board is an unusual one and the driver is right. A device that is in no
// table has the bandwidth that its source reports, and no FLOP/s.
func (g GPU) Peaks() (Peaks, bool) {
	p, known := PeaksFor(g.Name)
	switch {
	case !known:
		return Peaks{Name: g.Name, Bandwidth: g.Bandwidth.V, Source: "reported by the source"}, g.Bandwidth.OK
	case g.Bandwidth.OK && math.Abs(g.Bandwidth.V/p.Bandwidth-1) > 0.07:
		p.Name += fmt.Sprintf(" (%.4g TB/s in the data sheet)", p.Bandwidth/1e12)
		p.Bandwidth = g.Bandwidth.V
	}
	return p, true
}
