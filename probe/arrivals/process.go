// Package arrivals says when the requests of an open loop are due: how irregular the gaps
// between them are, and how their rate changes over time.
package arrivals

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Process is a renewal process: gaps between arrivals are independent, with a gamma
// distribution of this coefficient of variation (standard deviation over mean). 0 are
// constant gaps, 1 a Poisson process; above 1 arrivals come in bursts.
type Process struct{ CV float64 }

// The processes that have a name.
var (
	Constant = Process{0}
	Poisson  = Process{1}
)

// mostCV bounds the coefficient of variation. Beyond it nearly all gaps are too small for a
// clock, and the mean of any run is chance.
const mostCV = 20

const gammaPrefix = "gamma:"

var errProcess = fmt.Errorf("must be poisson, constant or gamma:CV with a CV up to %d, such as gamma:2 for bursts", mostCV)

// Parse reads "poisson", "constant" or "gamma:2.5".
func Parse(text string) (Process, error) {
	switch text {
	case "constant":
		return Constant, nil
	case "poisson":
		return Poisson, nil
	}
	cv, isGamma := strings.CutPrefix(text, gammaPrefix)
	v, err := strconv.ParseFloat(cv, 64)
	if !isGamma || err != nil || !(v >= 0 && v <= mostCV) {
		return Process{}, errProcess
	}
	return Process{v}, nil
}

// String is the form that Parse reads.
func (p Process) String() string {
	switch p {
	case Constant:
		return "constant"
	case Poisson:
		return "poisson"
	}
	return gammaPrefix + strconv.FormatFloat(p.CV, 'g', -1, 64)
}

// MarshalJSON writes true for Poisson and false for constant arrivals, as recordings have
// always had it, and any other process as text.
func (p Process) MarshalJSON() ([]byte, error) {
	switch p {
	case Constant, Poisson:
		return json.Marshal(p == Poisson)
	}
	return json.Marshal(p.String())
}

// UnmarshalJSON reads what MarshalJSON writes, and the text of any process.
func (p *Process) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*p = Poisson
		return nil
	case "false", "null":
		*p = Constant
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) != nil {
		return errors.New("arrivals are true, false or a text")
	}
	var err error
	*p, err = Parse(text)
	return err
}

// Gap draws the next gap, of mean 1.
func (p Process) Gap(r *rand.Rand) float64 {
	switch p {
	case Constant:
		return 1
	case Poisson:
		return r.ExpFloat64()
	}
	scale := p.CV * p.CV
	return scale * gamma(1/scale, r)
}

// gamma draws from a gamma distribution of scale 1: Marsaglia and Tsang, "A simple method for
// generating gamma variables", ACM TOMS 26 (2000), with their step for shapes below 1.
func gamma(shape float64, r *rand.Rand) float64 {
	if shape < 1 {
		return gamma(shape+1, r) * math.Pow(1-r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
