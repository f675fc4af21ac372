package scrape

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"sonde/probe/process"
)

// page2MB is a vLLM page with two ranks among the families of others, as a busy
// gateway or a server with many histograms publishes them.
func page2MB(b *testing.B) []byte {
	b.Helper()
	vllm, err := os.ReadFile("testdata/vllm-2026-08-dp2.txt")
	if err != nil {
		b.Fatal(err)
	}
	var page strings.Builder
	page.Write(vllm)
	for i := 0; page.Len() < 2<<20; i++ {
		if i%20 == 0 {
			fmt.Fprintf(&page, "# HELP http_request_duration_highr_%d_seconds Latency with many buckets.\n# TYPE http_request_duration_highr_%d_seconds histogram\n", i/20, i/20)
		}
		fmt.Fprintf(&page, "http_request_duration_highr_%d_seconds_bucket{handler=\"/v1/chat/completions\",le=\"%d.5\",method=\"POST\"} %d.0\n", i/20, i%20, i)
	}
	return []byte(page.String())
}

// BenchmarkScrape2MB is one scrape without the network: at 1 Hz its time in ms is
// a tenth of a per cent of a core each.
func BenchmarkScrape2MB(b *testing.B) {
	body := page2MB(b)
	source := NewSource(Config{Base: "http://engine", Client: &http.Client{Transport: fixedPage(body)}}, vllmIdentity)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if !source.scrape(b.Context()) {
			b.Fatal(source.Latest().Why)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	if got := source.Latest().Reading; got.Running.V != 16 || got.TTFT.Count != 55 {
		b.Fatalf("%+v", got)
	}
}

// cpuTime is what this process has used, in user and kernel mode, collector included.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	usage, ok := process.CPU()
	if !ok {
		b.Skip("no CPU times here")
	}
	return usage
}

// BenchmarkScrapePage is a scrape of the page alone, 67 KB.
func BenchmarkScrapePage(b *testing.B) {
	body, err := os.ReadFile("testdata/vllm-2026-08-dp2.txt")
	if err != nil {
		b.Fatal(err)
	}
	source := NewSource(Config{Base: "http://engine", Client: &http.Client{Transport: fixedPage(body)}}, vllmIdentity)
	b.ReportAllocs()
	for b.Loop() {
		source.scrape(b.Context())
	}
}

// BenchmarkScrape2MBWanted is a scrape of 2 MB of nothing but one engine's page:
// sixty data-parallel ranks.
func BenchmarkScrape2MBWanted(b *testing.B) {
	for _, page := range []struct{ file, rank string }{
		{"vllm-2026-08-dp2.txt", `engine="%d"`}, {"sglang-0.5.9-dp2.txt", `dp_rank="%d"`},
	} {
		b.Run(page.file, func(b *testing.B) { scrapeRanks(b, page.file, page.rank) })
	}
}

// scrapeRanks repeats rank 1 of a page until it has 2 MB.
func scrapeRanks(b *testing.B, file, rank string) {
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		b.Fatal(err)
	}
	one, rest := "", ""
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, fmt.Sprintf(rank, 1)) {
			one += line
		} else {
			rest += line
		}
	}
	page := strings.Builder{}
	page.WriteString(rest)
	for i := 1; page.Len() < 2<<20; i++ {
		page.WriteString(strings.ReplaceAll(one, fmt.Sprintf(rank, 1), fmt.Sprintf(rank, i)))
	}
	source := NewSource(Config{Base: "http://engine", Client: &http.Client{Transport: fixedPage(page.String())}}, vllmIdentity)
	b.SetBytes(int64(page.Len()))
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if !source.scrape(b.Context()) {
			b.Fatal(source.Latest().Why)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

type fixedPage []byte

func (p fixedPage) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: req, ContentLength: int64(len(p)), Body: body{bytes.NewReader(p)},
	}, nil
}

type body struct{ *bytes.Reader }

func (body) Close() error { return nil }
