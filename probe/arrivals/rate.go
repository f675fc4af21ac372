package arrivals

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Rate is requests per second over time: To, reached from another rate in a straight line.
type Rate struct {
	To float64 // 0: no arrivals
	Ramp
}

// Ramp is how a rate comes to where it stays.
type Ramp struct {
	From float64       `json:"from"`    // requests per second
	Over time.Duration `json:"over_ms"` // 0: there is no ramp
}

// mostRate bounds a rate, in requests per second.
const mostRate = 100_000

var (
	errRate   = errors.New("must be requests per second such as 2.5, or a ramp such as 1..20/10m")
	errNoTime = errors.New("must ramp over a time, such as 1..20/10m")
)

// ParseRate reads "2.5", or the ramp "1..20/10m": from 1 to 20 within ten minutes.
func ParseRate(text string) (Rate, error) {
	from, rest, isRamp := strings.Cut(text, "..")
	if !isRamp {
		to, err := parseFinite(text)
		return Rate{To: to}, inRange(err, to)
	}
	to, over, timed := strings.Cut(rest, "/")
	if !timed {
		return Rate{}, errNoTime
	}
	var r Rate
	var errs [3]error
	r.From, errs[0] = parseFinite(from)
	r.To, errs[1] = parseFinite(to)
	r.Over, errs[2] = time.ParseDuration(strings.TrimSpace(over))
	err := errors.Join(errs[:]...)
	switch {
	case err != nil:
	case r.Over <= 0:
		return Rate{}, errNoTime
	case r.To == 0:
		return Rate{}, errors.New("must end above 0: the load stays at the end of the ramp")
	}
	return r, inRange(err, r.From, r.To)
}

func inRange(err error, rates ...float64) error {
	if err != nil {
		return errRate
	}
	for _, v := range rates {
		if v < 0 || v > mostRate {
			return fmt.Errorf("must be 0 to %d", mostRate)
		}
	}
	return nil
}

func parseFinite(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}

// String is the form that ParseRate reads.
func (r Rate) String() string {
	to := strconv.FormatFloat(r.To, 'f', -1, 64)
	if r.Over == 0 {
		return to
	}
	return strconv.FormatFloat(r.From, 'f', -1, 64) + ".." + to + "/" + shortSpan(r.Over)
}

// shortSpan is a duration without the units that are 0 at its end: 10m, not 10m0s.
func shortSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// At is the rate at a time since it began.
func (r Rate) At(t time.Duration) float64 {
	if t >= r.Over {
		return r.To
	}
	return r.From + (r.To-r.From)*max(0, t.Seconds())/r.Over.Seconds()
}

// Outlook is the rate at a time since it began, and what is ahead, while a ramp changes it; else nothing.
func (r Rate) Outlook(t time.Duration) (now float64, ahead Outlook) {
	if t >= r.Over {
		return 0, Outlook{}
	}
	return r.At(t), Look(r.Count, r.Over, t)
}

// Count is how many arrivals are expected up to a time: the integral of the rate.
func (r Rate) Count(t time.Duration) float64 {
	ramp := min(t, r.Over).Seconds()
	n := r.To * max(0, t-r.Over).Seconds()
	if r.Over > 0 {
		n += r.From*ramp + (r.To-r.From)*ramp*ramp/(2*r.Over.Seconds())
	}
	return n
}

// When is the time at which Count reaches n. Arrivals at these times of a process with gaps of
// mean 1 come at the Rate.
func (r Rate) When(n float64) time.Duration {
	if n <= 0 {
		return 0
	}
	if whole := (r.From + r.To) / 2 * r.Over.Seconds(); n >= whole {
		return r.Over + seconds((n-whole)/r.To)
	}
	// The positive root of From·t + (To−From)·t²/(2·Over) = n, in the form that loses no digits
	// where both rates are nearly the same.
	root := math.Sqrt(max(0, r.From*r.From+2*(r.To-r.From)*n/r.Over.Seconds()))
	return seconds(2 * n / (r.From + root))
}

// endless is a time that no schedule reaches.
const endless = 100 * 365 * 24 * time.Hour

func seconds(s float64) time.Duration {
	if !(s < endless.Seconds()) {
		return endless
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}
