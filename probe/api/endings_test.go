package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"sonde/probe/measure"
)

func TestWaysToEnd(t *testing.T) {
	tokens := content("a") + content("b")
	for _, c := range []struct {
		name  string
		steps []step
		head  string
		hold  bool
		class measure.Class
		note  bool
	}{
		{name: "clean end, no finish, no mark", steps: []step{{10, tokens}}, class: measure.Truncated},
		{name: "finish, no mark", steps: []step{{10, tokens + finished("stop")}}},
		{name: "mark, no finish", steps: []step{{10, tokens + doneMark}}, note: true},
		{name: "mark without a blank line", steps: []step{{10, tokens + finished("stop") + "data: [DONE]"}}},
		{name: "short chunked body", head: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
			steps: []step{{10, "fff\r\n" + tokens}}, class: measure.ConnectionLost},
		{name: "a broken event", steps: []step{{10, tokens + "data: {\"choices\":[{\"del\n\n" + tokens + finished("stop") + doneMark}}, note: true},
		{name: "a coding we do not speak", head: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: br\r\nConnection: close\r\n\r\n",
			steps: []step{{10, tokens}}, class: measure.BadReply},
		{name: "only a usage", steps: []step{{10, finished("stop") + usageChunk(4, 0) + doneMark}}, class: measure.Empty},
		{name: "a web page", head: "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n", steps: []step{{1, "<html>"}}, class: measure.BadReply},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := once(t, script{head: c.head, steps: c.steps, hold: c.hold})
			if res.Class != c.class || (res.Note != "") != c.note {
				t.Errorf("class %q (%s), note %q; want %q", res.Class, res.Error, res.Note, c.class)
			}
		})
	}
}

func TestEndMarkEndsAtOnce(t *testing.T) {
	s := &server{scripts: []script{{steps: []step{{100, content("a")}, {300, finished("stop") + doneMark}}, hold: true}}}
	inBubble(t, s, nil, func(c *Client) {
		began := time.Now()
		res := c.Do(context.Background(), Call{Text: "x"}, quiet{})
		if got := ms(res.End - res.Start); got != 300 {
			t.Errorf("ended after %v ms, want 300", got)
		}
		if busy := time.Since(began); busy > 350*time.Millisecond {
			t.Errorf("the slot was held for %v, though the answer ended after 300 ms", busy)
		}
	})
}

func TestErrorsInsideTheStream(t *testing.T) {
	for name, text := range map[string]string{
		"nested":       event(`{"error":{"message":"engine died","code":500}}`) + doneMark,
		"text":         event(`{"error":"engine died"}`) + doneMark,
		"code is text": event(`{"error":{"message":"engine died","code":"500"}}`),
		"named event":  "event: error\ndata: engine died\n\n",
		"field":        "error: {\"message\":\"engine died\",\"code\":500}\n\n",
	} {
		for _, tokens := range []int{0, 2} {
			res := once(t, script{steps: []step{{5, roleChunk("")}, {50, strings.Repeat(content("a"), tokens)}, {90, text}}})
			if res.Class != measure.StreamError || res.Error != "engine died" {
				t.Errorf("%s after %d tokens: class %q, message %q", name, tokens, res.Class, res.Error)
			}
			if res.Chunks != tokens || res.OutTokens != tokens {
				t.Errorf("%s: %d partial tokens, want %d", name, res.OutTokens, tokens)
			}
		}
	}
}

func TestCancelHangsUp(t *testing.T) {
	for name, sc := range map[string]script{
		"while streaming":       {steps: []step{{10, content("a")}}, hold: true},
		"while headers are due": {head: "HTTP/1.1 ", hold: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{scripts: []script{sc}}
			inBubble(t, s, nil, func(c *Client) {
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
				defer cancel()
				res := c.Do(ctx, Call{Text: "x"}, quiet{})
				if res.Class != measure.Cancelled || res.Class.Failed() {
					t.Errorf("class %q, want cancelled", res.Class)
				}
			})
			if len(s.closed) != 1 || s.closed[0] != 2*time.Second {
				t.Errorf("the server saw the client leave at %v, want 2 s", s.closed)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	reply := func(status, headers, body string) script {
		return script{head: "HTTP/1.1 " + status + "\r\nConnection: close\r\n" + headers + "\r\n", steps: []step{{1, body}}}
	}
	for _, c := range []struct {
		name  string
		sc    script
		class measure.Class
		wait  time.Duration
		says  string
	}{
		{"429 with seconds", reply("429 Too Many", "Retry-After: 2\r\n", `{"error":{"message":"slow down"}}`), measure.RateLimited, 2 * time.Second, "429: slow down"},
		{"429 with a date", reply("429 Too Many", "Retry-After: Sat, 01 Jan 2000 00:00:09 GMT\r\n", ""), measure.RateLimited, 9 * time.Second, "429: Too Many Requests"},
		{"429 for hours", reply("429 Too Many", "Retry-After: 10800\r\n", ""), measure.RateLimited, 3 * time.Hour, "429"},
		{"429 with a unit", reply("429 Too Many", "Retry-After: 20s\r\n", ""), measure.RateLimited, 20 * time.Second, "429"},
		{"429 in milliseconds", reply("429 Too Many", "Retry-After: 2\r\nretry-after-ms: 1500\r\n", ""), measure.RateLimited, 1500 * time.Millisecond, "429"},
		{"429 until a Unix time", reply("429 Too Many", "Retry-After: 946684860\r\n", ""), measure.RateLimited, time.Minute, "429"},
		{"429 for ever", reply("429 Too Many", "Retry-After: 1e300\r\n", ""), measure.RateLimited, 30 * 24 * time.Hour, "429"},
		{"429 with nonsense", reply("429 Too Many", "Retry-After: NaN\r\n", ""), measure.RateLimited, 0, "429"},
		{"429 in the past", reply("429 Too Many", "Retry-After: -5\r\n", ""), measure.RateLimited, 0, "429"},
		{"loading", reply("503 Unavailable", "", `{"error":{"message":"Loading model","code":503}}`), measure.Loading, 0, "503: Loading model"},
		{"too long", reply("400 Bad", "", `{"error":{"message":"This model's maximum context length is 8192 tokens","code":400}}`), measure.ContextLength, 0, "8192"},
		{"too long for Zhipu", reply("400 Bad", "", `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`), measure.ContextLength, 0, "exceeds"},
		{"too long for TGI", reply("422 No", "", "{\"error\":\"`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000\"}"), measure.ContextLength, 0, "4096"},
		{"no content", reply("204 No Content", "", ""), measure.Empty, 0, "response is empty"},
		{"blank lines only", reply("200 OK", "", "\n\n"), measure.Empty, 0, "response is empty"},
		{"comments only", reply("200 OK", "", ": ping\n\n"), measure.Truncated, 0, "without a finish reason"},
		{"moved", reply("302 Found", "Location: http://elsewhere/\r\n", ""), measure.Redirect, 0, "302"},
		{"unauthorized", reply("401 No", "", `{"error":"Unauthorized"}`), measure.HTTP4xx, 0, "401: Unauthorized"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := once(t, c.sc)
			// The bubble's clock begins at midnight on 1 January 2000.
			if res.Class != c.class || !strings.Contains(res.Error, c.says) {
				t.Errorf("class %q, message %q; want %q, %q", res.Class, res.Error, c.class, c.says)
			}
			if d := res.RetryAfter - c.wait; d < -time.Second || d > 0 {
				t.Errorf("wait %v, want %v", res.RetryAfter, c.wait)
			}
		})
	}
}

func TestRefusedFieldsAreDroppedOnceAndRemembered(t *testing.T) {
	ok := script{steps: []step{{10, content("a") + finished("stop") + doneMark}}}
	refuse := func(message string) script {
		return script{head: "HTTP/1.1 400 Bad\r\nConnection: close\r\n\r\n", steps: []step{{1, message}}}
	}
	s := &server{scripts: []script{
		refuse(`{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'"}}`),
		refuse(`{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}`), ok,
	}}
	inBubble(t, s, nil, func(c *Client) {
		for range 2 {
			if res := c.Do(context.Background(), Call{Text: "x", MaxTokens: 3}, quiet{}); res.Class != measure.OK {
				t.Errorf("class %q: %s", res.Class, res.Error)
			}
		}
		if len(c.Notes()) != 2 {
			t.Errorf("notes %q", c.Notes())
		}
	})
	last := s.requests[len(s.requests)-1]
	if len(s.requests) != 4 || strings.Contains(last, "max_tokens") || strings.Contains(last, "stream_options") || !strings.Contains(last, `"max_completion_tokens":3`) {
		t.Errorf("%d requests, the last %s", len(s.requests), last)
	}
}

// Groq refuses stream_options and counts all the same, in a place of its own: the note claims
// nothing about the counts.
func TestCountsWithoutStreamOptions(t *testing.T) {
	refusal := script{head: "HTTP/1.1 400 Bad\r\nConnection: close\r\n\r\n", steps: []step{{1, `{"error":{"message":"stream_options: extra fields not permitted"}}`}}}
	usage := event(`{"choices":[],"x_groq":{"usage":{"prompt_tokens":12,"completion_tokens":40}}}`)
	s := &server{scripts: []script{refusal, {steps: []step{{10, content("abcd") + finished("stop") + usage + doneMark}}}}}
	inBubble(t, s, nil, func(c *Client) {
		if res := c.Do(context.Background(), Call{Text: "x"}, quiet{}); res.OutTokens != 40 || res.Source != measure.Usage {
			t.Errorf("%d tokens by %s", res.OutTokens, res.Source)
		}
		if notes := c.Notes(); len(notes) != 1 || notes[0] != "the server rejects stream_options, so it is not sent" {
			t.Errorf("notes %q", notes)
		}
	})
}

func TestOtherPathAfter404(t *testing.T) {
	notFound := script{head: "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n", steps: []step{{1, "404 page not found"}}}
	ok := script{steps: []step{{10, content("a") + finished("stop") + doneMark}}}
	s := &server{scripts: []script{notFound, ok}}
	inBubble(t, s, nil, func(c *Client) {
		for range 2 {
			if res := c.Do(context.Background(), Call{Text: "x"}, quiet{}); res.Class != measure.OK {
				t.Errorf("class %q: %s", res.Class, res.Error)
			}
		}
	})
	if got := strings.Join(s.paths, " "); got != "/v1/chat/completions /chat/completions /chat/completions" {
		t.Errorf("paths %s", got)
	}
}

func TestStaleConnectionIsRepeatedOnce(t *testing.T) {
	body := content("a") + finished("stop") + doneMark
	kept := script{head: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
		steps: []step{{10, chunked(body) + "0\r\n\r\n"}}}
	s := &server{scripts: []script{kept}}
	inBubble(t, s, nil, func(c *Client) {
		for i := range 2 {
			// The scripted server closes after a chunked answer without saying so.
			res := c.Do(context.Background(), Call{Text: "x"}, quiet{})
			if res.Class != measure.OK || res.Reused {
				t.Errorf("request %d: class %q (%s), reused %v", i, res.Class, res.Error, res.Reused)
			}
		}
	})
}

func TestSecretsStayInside(t *testing.T) {
	const key = "sk-test-demo-000111222333"
	with := func(raw string, change func(*Options)) func(*Options) {
		return func(o *Options) {
			o.Address, _ = ParseAddress(raw, Chat)
			if change != nil {
				change(o)
			}
		}
	}
	for name, change := range map[string]func(*Options){
		"key":                  func(o *Options) { o.APIKey = key },
		"header":               func(o *Options) { o.Header = http.Header{"Api-Key": {key}} },
		"header with a scheme": func(o *Options) { o.Header = http.Header{"Authorization": {"Bearer " + key}} },
		"query":                with("http://server:8000/v1?api_key="+key, nil),
		"user part":            with("http://u:"+key+"@server:8000/v1", nil),
	} {
		s := &server{scripts: []script{{head: "HTTP/1.1 401 No\r\nConnection: close\r\n\r\n",
			steps: []step{{1, `{"error":{"message":"Incorrect API key provided: ` + key + `, ends in 11222333"}}`}}}}}
		inBubble(t, s, change, func(c *Client) {
			res := c.Do(context.Background(), Call{Text: "x"}, quiet{})
			if strings.Contains(res.Error, key[len(key)-8:]) {
				t.Errorf("%s: the message holds the key: %s", name, res.Error)
			}
			if strings.Contains(c.URL(), key) {
				t.Errorf("%s: the address holds the key: %s", name, c.URL())
			}
		})
		if sent := s.heads[0].Get("Authorization") + s.heads[0].Get("Api-Key") + s.paths[0]; name != "user part" && !strings.Contains(sent, key) {
			t.Errorf("%s: the key was not sent", name)
		}
	}
}

func TestServerTextIsCleaned(t *testing.T) {
	dirty := `{"error":{"message":"a\u001b]52;c;aGk=\u0007b\r\n\u001b[31mc\u009b2J\u202ed ` + strings.Repeat("x", 1000) + `"}}`
	res := once(t, script{head: "HTTP/1.1 500 No\r\nConnection: close\r\n\r\n", steps: []step{{1, dirty}}})
	if !strings.HasPrefix(res.Error, "500: a]52;c;aGk=b [31mc2Jd xxx") || len([]rune(res.Error)) > 2*maxMessageRunes {
		t.Errorf("%d runes: %q", len([]rune(res.Error)), res.Error)
	}
}
