// Package length describes how many tokens prompts and answers are to have: all the same
// number, or numbers that scatter around a mean.
package length

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// Length is a mean number of tokens and how the lengths of single requests scatter around it.
type Length struct {
	Mean  int
	Shape Shape
}

// Shape is how lengths scatter. Its width is relative to the mean: the mean can move while
// the shape stays. The zero Shape is no scatter: every length is the mean.
type Shape struct {
	Kind  Kind    `json:"kind"`
	Width float64 `json:"width"`
}

// Kind is a family of distributions.
type Kind string

// Kinds of distributions.
const (
	Fixed     Kind = ""
	Normal    Kind = "normal"    // Width: standard deviation / mean
	Uniform   Kind = "uniform"   // Width: half the range / mean
	LogNormal Kind = "lognormal" // Width: standard deviation of the logarithm
)

// Most is the longest length.
const Most = 10_000_000

// Ends of a distribution. A normal one is cut alike on both sides, so that its mean stays.
const (
	deviations  = 3   // standard deviations that a normal length is at most away from its mean
	widestLog   = 3   // of a lognormal Shape: a third of all prompts would then exceed 20 times the median
	widestOther = 1.0 // of any other: below it no length is negative
)

var (
	errForm  = errors.New("must be a number of tokens such as 1024, a mean with its deviation (1024±256), a range (512..4096), or lognormal:MEAN,SIGMA")
	errRange = fmt.Errorf("must be 1 to %d tokens", Most)
	errOrder = errors.New("must be a range from the shorter to the longer length, such as 512..4096")
	errWide  = errors.New("must have a deviation below its mean")
	errSigma = fmt.Errorf("must have a sigma above 0 and at most %d", widestLog)
)

// number is digits, with commas or underscores between thousands, or thousands such as 4k.
const number = `(\d{1,3}(?:[,_]\d{3})+|\d+(?:\.\d+)?[kK]|\d+)`

var (
	fixedForm     = regexp.MustCompile(`^` + number + `$`)
	normalForm    = regexp.MustCompile(`^` + number + `\s*(?:±|\+-|\+/-|~)\s*` + number + `(%?)$`)
	uniformForm   = regexp.MustCompile(`^` + number + `\s*(?:\.\.+|…)\s*` + number + `$`)
	logNormalForm = regexp.MustCompile(`^lognormal:\s*(\d+)\s*,\s*(\d*\.?\d+)$`)
)

// Parse reads 1024, 4k, 1024±256 (also +- and ~, and a deviation in percent), 512..4096 or
// lognormal:1024,0.6, whose first number is the mean and whose second is the standard deviation
// of the logarithm. Its errors complete the name of a setting.
func Parse(text string) (Length, error) {
	text = strings.TrimSpace(text)
	if m := fixedForm.FindStringSubmatch(text); m != nil {
		return checked(count(m[1]), Shape{})
	}
	if m := normalForm.FindStringSubmatch(text); m != nil {
		mean, width := count(m[1]), count(m[2])/100
		if m[3] == "" {
			width = count(m[2]) / mean
		}
		return checked(mean, Shape{Normal, width})
	}
	if m := uniformForm.FindStringSubmatch(text); m != nil {
		low, high := count(m[1]), count(m[2])
		if low < 1 || high < low {
			return Length{}, errOrder
		}
		mean := math.Floor((low + high) / 2)
		return checked(mean, Shape{Uniform, (high - low) / 2 / mean})
	}
	if m := logNormalForm.FindStringSubmatch(text); m != nil {
		sigma, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return Length{}, errForm
		}
		return checked(count(m[1]), Shape{LogNormal, sigma})
	}
	return Length{}, errForm
}

// count reads digits; one that is too large for a number is beyond every limit.
func count(digits string) float64 {
	thousands, isThousands := strings.CutSuffix(strings.ToLower(digits), "k")
	v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(thousands), 64)
	switch {
	case err != nil:
		return math.Inf(1)
	case isThousands:
		return math.Round(1000 * v)
	}
	return v
}

func checked(mean float64, s Shape) (Length, error) {
	switch {
	case !(mean >= 1) || mean > Most:
		return Length{}, errRange
	case s.Kind == LogNormal && !(s.Width > 0 && s.Width <= widestLog):
		return Length{}, errSigma
	case s.Kind == Normal && !(s.Width < widestOther):
		return Length{}, errWide
	case s.Width == 0:
		s = Shape{}
	}
	return Length{int(mean), s}, nil
}

// String writes what Parse reads.
func (l Length) String() string {
	if l.Shape.Kind == LogNormal {
		return fmt.Sprintf("lognormal:%d,%g", l.Mean, l.Shape.Width)
	}
	return l.Shape.Text(l.Mean, strconv.Itoa)
}

// Text writes a length of that mean in little space; each writes a number of tokens.
func (s Shape) Text(mean int, each func(int) string) string {
	switch s.Kind {
	case Normal:
		return each(mean) + "±" + each(int(math.Round(s.Width*float64(mean))))
	case Uniform:
		low, high := s.ends(mean)
		return each(low) + ".." + each(high)
	case LogNormal:
		return fmt.Sprintf("%s ln%g", each(mean), s.Width)
	}
	return each(mean)
}

// ends are the shortest and the longest length of a uniform Shape. The mean of a range may lie
// between two whole numbers: it is kept rounded down.
func (s Shape) ends(mean int) (low, high int) {
	const rounding = 1e-6 // of the width, which is a binary fraction
	half := s.Width * float64(mean)
	return max(1, mean-int(math.Floor(half+rounding))), mean + int(math.Ceil(half-rounding))
}

// Draw is the length of one request, at least 1. The mean of many is the mean, up to rounding.
func (s Shape) Draw(mean int, r *rand.Rand) int {
	m, x := float64(mean), float64(mean)
	switch s.Kind {
	case Normal:
		most := min(deviations*s.Width*m, m-1)
		for most > 0 {
			if x = m + s.Width*m*r.NormFloat64(); math.Abs(x-m) <= most {
				break
			}
		}
	case Uniform:
		low, high := s.ends(mean)
		return low + r.IntN(high-low+1)
	case LogNormal: // the mean of a lognormal distribution is exp(μ + σ²/2)
		x = math.Exp(math.Log(m) - s.Width*s.Width/2 + s.Width*r.NormFloat64())
	}
	return int(min(max(math.Round(x), 1), Most))
}

// Typical are lengths by which a tokenizer's counts of all others can be estimated: the mean, and
// one on either side of it if they scatter.
func (l Length) Typical() []int {
	low, high := l.Shape.ends(l.Mean)
	switch l.Shape.Kind {
	case Normal, Uniform:
		return []int{l.Mean, low, high}
	case LogNormal: // μ ± σ
		median := float64(l.Mean) * math.Exp(-l.Shape.Width*l.Shape.Width/2)
		away := math.Exp(l.Shape.Width)
		return []int{l.Mean, max(1, int(median/away)), int(median * away)}
	}
	return []int{l.Mean}
}
