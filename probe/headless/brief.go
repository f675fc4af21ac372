package headless

import (
	"fmt"
	"io"
)

// WriteBrief writes the few lines that stay on the terminal after the live
// screen has closed.
func (s Summary) WriteBrief(w io.Writer) error {
	r := &s.Requests
	if r.Sent == 0 {
		_, err := fmt.Fprintf(w, "sonde %s: no request was sent\n", word(s.Target.URL))
		return err
	}
	_, err := fmt.Fprintf(w, "sonde %s · %s\n  %s for %s s: ok %d, failed %d, cancelled %d\n  TTFT p50 %s p95 %s ms · TPOT p50 %s p95 %s ms · gap p99 %s ms · output %s tok/s\n",
		word(s.Target.URL), word(s.Target.Model), s.Load.describe(), figure(s.DurationS), r.OK, r.Failed, r.Cancelled,
		figure(s.LatencyMS.TTFT.P50), figure(s.LatencyMS.TTFT.P95), figure(s.LatencyMS.TPOT.P50), figure(s.LatencyMS.TPOT.P95),
		figure(s.LatencyMS.Gap.P99), figure(s.Rates.OutputPerS))
	return err
}
