package units

import (
	"math"
	"testing"

	"sonde/probe/opt"
)

func TestFormats(t *testing.T) {
	type row struct{ got, want string }
	for _, c := range []row{
		{Sig3(0), "0"}, {Sig3(0.004), "<0.01"}, {Sig3(0.85), "0.85"}, {Sig3(9.994), "9.99"}, {Sig3(9.996), "10.0"},
		{Sig3(14.06), "14.1"}, {Sig3(99.96), "100"}, {Sig3(212.4), "212"}, {Sig3(999.6), "1.00k"}, {Sig3(1210), "1.21k"},
		{Tally(-1234567), "-1.23M"}, {Tally(-0.2), "0"}, {Tally(999.4), "999"}, {Tally(999.6), "1.00k"}, {Tally(28_483), "28.5k"}, {Tally(999_600), "1.00M"}, {Tally(math.NaN()), "—"},
		{Sig2(4.44), "4.4"}, {Sig2(9.96), "10"}, {Sig2(1142.2), "1.14k"}, {Sig2(0), "0"},
		{Short(0), "0"}, {Short(2.5), "2.5"}, {Short(950), "950"}, {Short(1200), "1.2k"}, {Short(34000), "34k"}, {Short(1.5e6), "1.5M"},
		{Milliseconds.Label(0.25), "0.25"}, {Milliseconds.Label(0.01), "0.01"}, {Milliseconds.Label(0.30000000000000004), "0.3"}, {Milliseconds.Label(2), "2"},
		{Milliseconds.Label(500), "500"}, {Milliseconds.Label(2000), "2s"}, {Milliseconds.Label(2500), "2.5s"}, {Microseconds.Label(162), "162ms"}, {Milliseconds.Label(0), "0"}, {Seconds.Label(20000), "20"}, {Microseconds.Label(0.5), "500"},
		{Percent(opt.Of(0.634)), "63 %"}, {Percent(opt.Of(85)), "—"}, {Percent(opt.Of(-1)), "—"},
		{LatencyFor(0.2, 0.9).Of(0.2), "200"}, {LatencyFor(212, 300).Name, "ms"}, {LatencyFor(12_000, 13_000).Of(12_340), "12.3"},
		{LatencyFor(0.3, 162).Of(0.3), "0.30"}, {LatencyFor(0.3, 162).Of(162.009), "162"}, {Microseconds.Of(162.009), "162ms"}, {Microseconds.Of(2500), "2.50s"},
		{LatencyFor(412, 1790).Of(1790), "1.79s"}, {LatencyFor(412, 1790).Of(999.6), "1.00s"}, {LatencyFor(0, 0).Name, "ms"}, {Milliseconds.With(1790), "1.79 s"},
		{Clock(4*60e9 + 12e9), "00:04:12"}, {Span(850e6), "850 ms"}, {Span(8300e6), "8.3 s"}, {Span(125e9), "2.1 min"}, {Span(90e9), "90 s"}, {Span(120e9), "2 min"}, {Span(150e9), "2.5 min"}, {Span(180e9), "3 min"},
		{Digits3(0), "0.00"}, {Digits3(1.234), "1.23"}, {Digits3(9.996), "10.0"}, {Digits3(14.06), "14.1"}, {Digits3(99.96), "100"}, {Digits3(1234.4), "1234"},
		{Commas(1234567), "1,234,567"}, {Commas(-123), "-123"}, {Commas(12.34), "12.3"}, {WholeCommas(1234.4), "1,234"}, {Percent3(0.634), "63.4 %"}, {Exact(0.5), "0.5"}, {Exact(16), "16"},
		{Share(0.023), "2.3 %"}, {Share(0.63), "63 %"}, {Share(1), "100 %"}, {Ratio(1.5), "1.5 times"}, {Ratio(12.4), "12 times"},
		{Millis(14.06), "14.1 ms"}, {Millis(412), "412 ms"}, {Millis(2440), "2.44 s"}, {Millis(12_480), "12.5 s"}, {Millis(60_000), "60.0 s"}, {Millis(0.42), "420 µs"}, {Millis(5.08), "5.08 ms"}, {Millis(1710), "1.71 s"}, {Millis(0), "0 ms"},
		{Count(1, "stream"), "1 stream"}, {Count(0, "stream"), "0 streams"}, {Count(2.2, "stream"), "2 streams"}, {Elapsed(8900e6), "8 s"},
		{Digits4(0), "0"}, {Digits4(0.25), "0.25"}, {Digits4(240), "240"}, {Digits4(999.94), "999.9"}, {Digits4(999.96), "1k"}, {Digits4(1000), "1k"},
		{Digits4(1_440_000), "1.44M"}, {Digits4(16_900), "16.9k"}, {Digits4(3.282051), "3.282"}, {Digits4(1e18), "1000P"}, {Digits4(1e21), "1.00e+06P"},
		{Digits4(0.00001), "1.00e-05"}, {Bytes(131_072), "128 KiB"},
		{Known(opt.Float{}, Sig3), "—"}, {Known(opt.Of(2), Sig2), "2.0"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
