package diagnose

import (
	"fmt"
	"math"
	"time"
)

// millis writes milliseconds with about three digits: 14.1 ms, 412 ms, 2.4 s.
func millis(ms float64) string {
	switch {
	case ms >= 9995:
		return fmt.Sprintf("%.0f s", ms/1000)
	case ms >= 999.5:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 99.95:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// percent writes a fraction; a small one is not rounded to nothing.
func percent(share float64) string {
	if share > 0 && share < 0.095 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// times writes a ratio.
func times(ratio float64) string {
	if ratio >= 9.95 {
		return fmt.Sprintf("%.0f times", ratio)
	}
	return fmt.Sprintf("%.1f times", ratio)
}

// count writes how many, in full numbers.
func count(n float64) string { return fmt.Sprintf("%.0f", math.Round(n)) }

// several writes how many of something there are: 1 stream, 2 streams.
func several(n float64, one string) string {
	if math.Round(n) == 1 {
		return "1 " + one
	}
	return count(n) + " " + one + "s"
}

// wholeSeconds writes a time that goes on, rounded down: it has been that long.
func wholeSeconds(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }
