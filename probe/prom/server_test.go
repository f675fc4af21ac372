package prom

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// vector is an answer of the query API with these series.
func vector(series ...string) string {
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(series, ",") + `]}}`
}

// one is a series with one sample. Labels are written a="b",c="d".
func one(name, labels string, at float64, value string) string {
	fields := []string{fmt.Sprintf(`"__name__":%q`, name)}
	if name == "" {
		fields = nil
	}
	for label := range strings.SplitSeq(labels, ",") {
		key, text, _ := strings.Cut(label, "=")
		fields = append(fields, fmt.Sprintf("%q:%s", key, text))
	}
	return fmt.Sprintf(`{"metric":{%s},"value":[%.3f,%q]}`, strings.Join(fields, ","), at, value)
}

func newServer(t *testing.T, address string) *Server {
	t.Helper()
	s, err := NewServer(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsAsked(t *testing.T) {
	var asked *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		io.WriteString(w, vector(one("a_x", `job="j"`, 100, "1")))
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct{ address, path, shown string }{
		{"http://" + host, "/api/v1/query", "http://" + host},
		{"http://" + host + "/", "/api/v1/query", "http://" + host},
		{"http://" + host + "/prom/", "/prom/api/v1/query", "http://" + host + "/prom"},
		{"http://" + host + "/api/v1", "/api/v1/query", "http://" + host},
		{"http://" + host + "/api/v1/query", "/api/v1/query", "http://" + host},
		{"http://ann:s3cret@" + host + "/?tenant=t1", "/api/v1/query", "http://" + host},
	} {
		s := newServer(t, c.address)
		_, err := NewPoller(s, Query{Names: "a_.*", Selector: `job="j"`, Markers: []string{"a_x", "a_y"}}).Next(t.Context())
		if err != nil || asked.URL.Path != c.path || s.URL() != c.shown {
			t.Errorf("%s: path %q, shown %q, %v", c.address, asked.URL.Path, s.URL(), err)
		}
	}
	if user, password, _ := asked.BasicAuth(); user != "ann" || password != "s3cret" || asked.FormValue("tenant") != "t1" {
		t.Errorf("asked as %q with %q, tenant %q", user, password, asked.FormValue("tenant"))
	}
	want := `{__name__=~"a_.*",job="j"} or label_replace(max by (job, instance) ` +
		`(timestamp(a_x{job="j"}) or timestamp(a_y{job="j"})), "sonde_scraped", "yes", "", "")`
	if got := asked.FormValue("query"); got != want {
		t.Errorf("query\n%s, want\n%s", got, want)
	}
}

// Which targets are down is asked in the same query: at first of all that had samples within
// the hour, then of the jobs that are known.
func TestQueryForTargetsThatAreDown(t *testing.T) {
	q := Query{Names: "a_.*", Selector: `ns="x"`, Markers: []string{"a_x"}, Down: true}
	base := `{__name__=~"a_.*",ns="x"} or label_replace(max by (job, instance) (timestamp(a_x{ns="x"})), "sonde_scraped", "yes", "", "") or `
	for want, jobs := range map[string][]string{
		`label_replace(up and on (job, instance) (count_over_time(a_x{ns="x"}[1h])), "sonde_up", "yes", "", "")`: nil,
		`label_replace(up{job=~"a|b"} == 0, "sonde_up", "yes", "", "")`:                                          {"a", "b"},
	} {
		if got := q.text(jobs); got != base+want {
			t.Errorf("%s\nwant %s", got, base+want)
		}
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"", "host:9090", "ftp://u:s3cret@h", "http://u:s3cret@h:x"} {
		if _, err := NewServer(address, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestEveryFailureIsASentence(t *testing.T) {
	q := Query{What: "a_…", Names: "a_.*", Selector: `job="j"`}
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"credentials": {401, "no", "Prometheus at SERVER wants other credentials (401): give them as --prometheus http://USER:PASSWORD@HOST"},
		"bad query": {400, `{"status":"error","errorType":"bad_data","error":"1:9: parse error:\u001b[2J bad"}`,
			"Prometheus at SERVER refuses the query: 1:9: parse error:[2J bad: check --selector"},
		"too slow": {503, `{"status":"error","errorType":"timeout","error":"query timed out"}`,
			"Prometheus at SERVER cannot answer (503, timeout): query timed out"},
		"gateway":     {502, "<html>", "Prometheus at SERVER answers HTTP 502: check its log, or give another address with --prometheus"},
		"no API":      {404, "", "SERVER is not a Prometheus server (HTTP 404 at /api/v1/query): give its address with --prometheus"},
		"HTML":        {200, "<html>", "SERVER is not a Prometheus server (HTML at /api/v1/query): give its address with --prometheus"},
		"other JSON":  {200, `{"object":"list","data":[]}`, "SERVER is not a Prometheus server (other JSON at /api/v1/query): give its address with --prometheus"},
		"other type":  {200, `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`, "SERVER is not a Prometheus server (other JSON at /api/v1/query): give its address with --prometheus"},
		"empty":       {200, "", "SERVER is not a Prometheus server (nothing at /api/v1/query): give its address with --prometheus"},
		"torn":        {200, vector()[:40], "SERVER is not a Prometheus server (other JSON at /api/v1/query): give its address with --prometheus"},
		"no series":   {200, vector(), `Prometheus at SERVER has no series a_… with job="j": check --selector, and that it scrapes them`},
		"too large":   {200, strings.Repeat(" ", maxBytes+1), "response from Prometheus at SERVER refused: too large: over 32 MiB: narrow the query with --selector"},
		"other place": {302, "http://elsewhere.invalid/", "Prometheus at SERVER redirects to http://elsewhere.invalid/: give that address with --prometheus"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.status == 302 {
					w.Header().Set("Location", c.body)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}))
			defer server.Close()
			s := newServer(t, strings.Replace(server.URL, "://", "://u:s3cret@", 1))
			_, err := NewPoller(s, q).Next(t.Context())
			if want := strings.ReplaceAll(c.want, "SERVER", server.URL); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := strings.Replace(server.URL, "://", "://u:s3cret@", 1)
	server.Close()
	_, err := NewPoller(newServer(t, address), Query{Names: "x"}).Next(t.Context())
	if want := "connection refused by Prometheus at " + server.URL + ": is the server up, is the port right?"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
