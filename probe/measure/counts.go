package measure

import "sonde/probe/opt"

// Counts say what became of the requests. Sent is the sum of OK, Failed, Cancelled and the
// class "loading"; excluded ones are among them.
type Counts struct {
	Sent      int           `json:"sent"`
	OK        int           `json:"ok"`
	Failed    int           `json:"failed"`
	Cancelled int           `json:"cancelled"`
	Excluded  int           `json:"excluded"`
	ByClass   map[Class]int `json:"by_class"` // without those that were cancelled
}

// Add counts a request that ended. One that is excluded is also counted by its result.
func (c *Counts) Add(r *Request) {
	c.Sent++
	if r.Excluded {
		c.Excluded++
	}
	switch r.Class {
	case OK:
		c.OK++
		return
	case Cancelled:
		c.Cancelled++
		return
	case Loading: // by a server that is not ready: no failure
	default:
		c.Failed++
	}
	if c.ByClass == nil {
		c.ByClass = map[Class]int{}
	}
	c.ByClass[r.Class]++
}

// Merge adds all counts of o.
func (c *Counts) Merge(o *Counts) {
	c.Sent += o.Sent
	c.OK += o.OK
	c.Failed += o.Failed
	c.Cancelled += o.Cancelled
	c.Excluded += o.Excluded
	for class, n := range o.ByClass {
		if c.ByClass == nil {
			c.ByClass = map[Class]int{}
		}
		c.ByClass[class] += n
	}
}

// Refused is how many of the failed requests hit a rate limit.
func (c *Counts) Refused() int { return c.ByClass[RateLimited] }

// ErrorShare is the share of requests that failed; unknown if none has ended.
func (c *Counts) ErrorShare() opt.Float { return opt.Of(float64(c.Failed) / float64(c.OK+c.Failed)) }

// Failures from which on a load is more than a service can take.
const (
	failedMuch   = 0.1 // share of requests
	failedAtOnce = 5   // that are no chance
)

// FailsMuch reports whether so many requests fail that the load is too much.
func (c *Counts) FailsMuch() bool {
	return c.Failed >= failedAtOnce && c.ErrorShare().V > failedMuch
}
