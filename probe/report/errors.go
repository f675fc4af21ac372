package report

import (
	"cmp"
	"slices"

	"sonde/probe/measure"
)

// maxMessages bounds the distinct error messages that are kept: some servers
// put a fresh id into each one.
const maxMessages = 100

// otherMessages stands for all messages beyond maxMessages.
const otherMessages = "(other messages)"

// ErrorCount is one message of failed requests.
type ErrorCount struct {
	Class   measure.Class `json:"class"`
	Message string        `json:"message"`
	Count   int           `json:"count"`
}

// ErrorCounts adds up messages.
type ErrorCounts struct {
	counts map[ErrorCount]int // keys have no count
}

// Add adds a message as often as it came.
func (c *ErrorCounts) Add(e ErrorCount) {
	if c.counts == nil {
		c.counts = map[ErrorCount]int{}
	}
	n := e.Count
	e.Count = 0
	if _, known := c.counts[e]; !known && len(c.counts) >= maxMessages {
		e.Message = otherMessages
	}
	c.counts[e] += n
}

// List is sorted by count, most frequent first.
func (c *ErrorCounts) List() []ErrorCount {
	list := make([]ErrorCount, 0, len(c.counts))
	for e, n := range c.counts {
		e.Count = n
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b ErrorCount) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Class, b.Class), cmp.Compare(a.Message, b.Message))
	})
	return list
}
