package prom

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// script is a server without a network, for use under virtual time.
type script func() (body string, header http.Header)

func (s script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, header := s()
	return &http.Response{StatusCode: 200, Header: header, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// polled is a poller of a scripted Prometheus whose clock is skewed and which has
// scraped targets when scrapes says, by its own clock.
func polled(skew time.Duration, scrapes func() map[string]time.Time) *Poller {
	s, err := NewServer("http://prom:9090", &http.Client{Transport: script(func() (string, http.Header) {
		now := float64(time.Now().Add(skew).UnixMilli()) / 1000
		var list []string
		for instance, at := range scrapes() {
			labels := fmt.Sprintf("job=\"j\",instance=%q", instance)
			list = append(list, one("a_x", labels, now, "7"),
				one("", labels+`,sonde_scraped="yes"`, now, fmt.Sprintf("%.3f", float64(at.UnixMilli())/1000)))
		}
		return vector(list...), nil
	})})
	if err != nil {
		panic(err)
	}
	return NewPoller(s, Query{What: "a_…", Names: "a_.*", Markers: []string{"a_x"}})
}

func next(t *testing.T, p *Poller) News {
	t.Helper()
	n, err := p.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Scraped every 15 s and asked every second: news comes once per scrape, its age is
// that of the sample whatever the server's clock says.
func TestNewsComesOncePerScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const skew = -40 * time.Second
		begin := time.Now()
		p := polled(skew, func() map[string]time.Time {
			return map[string]time.Time{"h:1": begin.Add(time.Since(begin).Truncate(15 * time.Second)).Add(skew)}
		})
		fresh := 0
		for second := range 60 {
			n := next(t, p)
			if age, want := time.Since(n.At), time.Duration(second%15)*time.Second; age != want || n.Stale != nil {
				t.Errorf("at %d s: age %v, want %v; stale: %v", second, age, want, n.Stale)
			}
			if n.Fresh {
				fresh++
			}
			if n.Fresh != (second%15 == 0) || n.Fresh != (len(n.Samples) == 1) {
				t.Errorf("at %d s: fresh %t with %d samples", second, n.Fresh, len(n.Samples))
			}
			time.Sleep(time.Second)
		}
		if fresh != 4 || p.Period() != 15*time.Second || p.Pause() != 3*time.Second {
			t.Errorf("%d news, period %v, pause %v", fresh, p.Period(), p.Pause())
		}
		if n := next(t, p); len(n.Notes) != 1 || n.Notes[0] != "Prometheus scrapes every 15 s" {
			t.Errorf("notes %q", n.Notes)
		}
	})
}

// Two targets are scraped at different times: counters of both must have moved
// before their sum is news, and the sum is of the mean time.
func TestNewsWaitsForEveryTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		a, b := begin, begin.Add(-4*time.Second)
		p := polled(0, func() map[string]time.Time { return map[string]time.Time{"h:1": a, "h:2": b} })
		if n := next(t, p); !n.Fresh || time.Since(n.At) != 2*time.Second || len(n.Samples) != 2 {
			t.Errorf("first: %+v, age %v, want 2 s", n, time.Since(n.At))
		}
		time.Sleep(6 * time.Second)
		b = time.Now()
		if n := next(t, p); n.Fresh {
			t.Error("only one of two was scraped, and it is news")
		}
		time.Sleep(4 * time.Second)
		a = time.Now()
		// Scraped 0 and 4 s ago.
		if n := next(t, p); !n.Fresh || time.Since(n.At) != 2*time.Second {
			t.Errorf("both: %+v, age %v, want 2 s", n, time.Since(n.At))
		}
	})
}

// A dead target's last sample stays in answers for five minutes.
func TestDeadTargetsDoNotLookAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, died := time.Now(), 10*time.Second
		p := polled(0, func() map[string]time.Time {
			return map[string]time.Time{"h:1": time.Now(), "h:2": begin.Add(min(time.Since(begin), died))}
		})
		var out News
		for time.Since(begin) < 40*time.Second {
			if n := next(t, p); n.Fresh {
				out = n
			}
			time.Sleep(time.Second)
		}
		if len(out.Samples) != 1 || out.Samples[0].Labels["instance"] != "h:1" || time.Since(out.At) != time.Second {
			t.Errorf("got %+v", out)
		}
		if want := "1 of 2 targets sent nothing for over 15s and are skipped: h:2"; len(out.Notes) != 1 || out.Notes[0] != want {
			t.Errorf("notes %q, want %q", out.Notes, want)
		}
	})
}

func TestWhenAllTargetsAreDeadTheAgeShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		p := polled(5*time.Second, func() map[string]time.Time {
			return map[string]time.Time{"h:1": begin.Add(5 * time.Second).Add(min(time.Since(begin), 10*time.Second))}
		})
		for time.Since(begin) < 30*time.Second {
			next(t, p)
			time.Sleep(time.Second)
		}
		n := next(t, p)
		if want := "Prometheus at http://prom:9090 has had no newer sample of a_… for 20s: does it still scrape them?"; n.Stale == nil || n.Stale.Error() != want || n.Fresh {
			t.Errorf("fresh %t, stale: %v\nwant %q", n.Fresh, n.Stale, want)
		}
		if age := time.Since(n.At); age != 20*time.Second {
			t.Errorf("age %v, want 20 s", age)
		}
	})
}

// Without the marker, the stamp of the values is all there is; the server's Date is
// its clock.
func TestWithoutMarkersTheStampCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const skew = time.Hour
		stamp := time.Now().Add(skew - 8*time.Second)
		s, err := NewServer("http://prom:9090", &http.Client{Transport: script(func() (string, http.Header) {
			date := time.Now().Add(skew).UTC().Format(http.TimeFormat)
			return vector(one("a_x", `job="j"`, float64(stamp.Unix()), "NaN")), http.Header{"Date": {date}}
		})})
		if err != nil {
			t.Fatal(err)
		}
		n := next(t, NewPoller(s, Query{Names: "a_.*", Markers: []string{"a_x"}}))
		if age := time.Since(n.At); age != 8*time.Second || len(n.Samples) != 1 || n.Samples[0].Value == n.Samples[0].Value {
			t.Errorf("age %v, want 8 s; %+v", age, n.Samples)
		}
	})
}

// Labels that the exporter gave win over those of the scrape; what tells targets
// apart stays.
func TestExportedLabels(t *testing.T) {
	r, err := decode([]byte(vector(
		one("a_x", `job="j",instance="h:1",pod="exporter",exported_pod="vllm-0",exported_instance="other"`, 100, "+Inf"),
		`{"metric":{"__name__":"a_h","job":"j","instance":"h:1"},"histogram":[100,{"count":"1"}]}`,
	)))
	if err != nil {
		t.Fatal(err)
	}
	samples := r.sorted(exchange{}).samples[target{"j", "h:1"}]
	if len(samples) != 1 || samples[0].Name != "a_x" {
		t.Fatalf("got %+v", samples)
	}
	if l := samples[0].Labels; l["pod"] != "vllm-0" || l["instance"] != "h:1" || l["__name__"] != "" {
		t.Errorf("labels %v", l)
	}
}

func TestWarningsOfTheServerAreTold(t *testing.T) {
	body := strings.Replace(vector(one("a_x", `job="j"`, 100, "1")), `"data"`, `"warnings":["no store\u001b"],"data"`, 1)
	s, err := NewServer("http://prom", &http.Client{Transport: script(func() (string, http.Header) { return body, nil })})
	if err != nil {
		t.Fatal(err)
	}
	if n := next(t, NewPoller(s, Query{Names: "a_.*"})); len(n.Notes) != 1 || n.Notes[0] != "Prometheus warns: no store" {
		t.Errorf("notes %q", n.Notes)
	}
}

// A server that hangs holds one query for five seconds, then it is a sentence.
func TestAHangingServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer("http://u:s3cret@prom:9090", &http.Client{Transport: hanging{}})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err = NewPoller(s, Query{Names: "x"}).Next(t.Context())
		if want := "no answer from Prometheus at http://prom:9090 within 5s"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if waited := time.Since(begin); waited != 5*time.Second {
			t.Errorf("waited %v, want 5 s", waited)
		}
	})
}

type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
