package diagnose

import (
	"fmt"
	"strings"

	"sonde/probe/measure"
)

// rateLimits finds that the server's limits set the pace.
type rateLimits struct {
	refused, total int
	message        string
	rpm, tpm       float64
}

func (r *rateLimits) check(h *history) outcome {
	const fewest = 3
	f := countFailures(h)
	r.refused, r.total = f.byClass[measure.RateLimited], f.total
	r.message = f.messages[measure.RateLimited]
	c := &h.now().Client
	r.rpm, r.tpm = 60*c.RequestsPerS, 60*(c.InTokensPerS+c.OutTokensPerS)
	return found(r.refused >= fewest && f.lately() && (f.recent[measure.RateLimited] > 0 || f.okSince < enough))
}

func (r *rateLimits) verdict() Verdict {
	says := fmt.Sprintf("%s binds: %d of %d requests were refused", limitNamed(r.message), r.refused, r.total)
	evidence := []string{fmt.Sprintf("passed: %s requests and %s tokens per minute", count(r.rpm), count(r.tpm))}
	if r.message != "" {
		evidence = append(evidence, "the server says: "+r.message)
	}
	return Verdict{Severity: Warn, Text: says, Evidence: evidence, Advice: adviceFor[measure.RateLimited]}
}

// limitNamed reads from the refusal which limit it was.
func limitNamed(message string) string {
	m := strings.ToLower(message)
	tokens := strings.Contains(m, "tpm") || strings.Contains(m, "tokens per min")
	requests := strings.Contains(m, "rpm") || strings.Contains(m, "requests per min")
	switch {
	case tokens && !requests:
		return "the limit on tokens per minute"
	case requests && !tokens:
		return "the limit on requests per minute"
	}
	return "a rate limit"
}
