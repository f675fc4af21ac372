package prober_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/probe/canary/prober"
	"sonde/probe/measure"
	"sonde/probe/simtest"
)

// scripted is a server of one model that counts the words of a prompt and 22 tokens of a
// template. All of it is virtual: time passes while it thinks.
type scripted struct {
	mu      sync.Mutex
	model   string
	noList  int           // status of the model list; 0: it has one
	thinks  time.Duration // before an answer
	prompts []string
	tokens  []int // max_tokens
	header  http.Header
	lists   int
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = r.Header
	if r.URL.Path == "/v1/models" {
		s.lists++
		if s.noList != 0 {
			w.WriteHeader(s.noList)
			return
		}
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q,"object":"model"}]}`, s.model)
		return
	}
	if r.URL.Path != "/v1/chat/completions" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	var body struct {
		Model     string
		Messages  []struct{ Content string }
		MaxTokens int `json:"max_tokens"`
	}
	_ = json.Unmarshal(raw, &body)
	if body.Model != s.model {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":{"message":"The model %q does not exist."}}`, body.Model)
		return
	}
	s.prompts, s.tokens = append(s.prompts, body.Messages[0].Content), append(s.tokens, body.MaxTokens)
	select {
	case <-time.After(s.thinks):
	case <-r.Context().Done():
		return
	}
	words := len(strings.Fields(body.Messages[0].Content))
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n", words+22)
}

// against runs a test of a Prober in virtual time.
func against(t *testing.T, s *scripted, opt prober.Options, test func(t *testing.T, p *prober.Prober)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := simtest.NewNetwork()
		server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
		done := make(chan struct{})
		go func() { defer close(done); _ = server.Serve(network) }()
		opt.URL, opt.API, opt.Dial = "http://127.0.0.1:8000", "chat", network.Dial
		if opt.Idle == 0 {
			opt.Idle = 30 * time.Second
		}
		opt.Output = 16
		p, err := prober.New(opt)
		if err != nil {
			t.Fatal(err)
		}
		test(t, p)
		p.Close()
		_ = server.Close()
		_ = network.Close()
		<-done
		time.Sleep(2 * time.Minute) // idle connections of the model list end
	})
}

func TestPromptsAreNewAndFit(t *testing.T) {
	s := &scripted{model: "m"}
	against(t, s, prober.Options{Input: 64}, func(t *testing.T, p *prober.Prober) {
		seen := map[string]bool{}
		for i := range 50 {
			model, r := p.Probe(t.Context())
			if model != "m" || r.Class != measure.OK || r.RequestedIn != 64 || r.RequestedOut != 16 {
				t.Fatalf("%q %+v", model, r)
			}
			if i > 0 && r.InTokens != 64 {
				t.Errorf("probe %d: %d tokens, want 64", i, r.InTokens)
			}
			seen[s.prompts[i]] = true
		}
		if len(seen) != 50 || s.tokens[0] != 16 || s.lists != 1 {
			t.Errorf("%d different prompts of 50, max_tokens %d, %d looks at the model list", len(seen), s.tokens[0], s.lists)
		}
	})
}

// A template that is longer than the requested prompt leaves a few words, so that every prompt
// is still new.
func TestAFewWordsAreAlwaysLeft(t *testing.T) {
	s := &scripted{model: "m"}
	against(t, s, prober.Options{Input: 8}, func(t *testing.T, p *prober.Prober) {
		for range 5 {
			p.Probe(t.Context())
		}
		for _, text := range s.prompts[1:] {
			if n := len(strings.Fields(text)); n != 4 {
				t.Errorf("%d words", n)
			}
		}
	})
}

func TestACancelledProbeEndsAtOnce(t *testing.T) {
	against(t, &scripted{model: "m", thinks: time.Minute}, prober.Options{Input: 16}, func(t *testing.T, p *prober.Prober) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		began := time.Now()
		_, r := p.Probe(ctx)
		if took := time.Since(began); r.Class != measure.Cancelled || took != 20*time.Second {
			t.Errorf("%s %q after %s", r.Class, r.Error, took)
		}
		if _, r := p.Probe(ctx); r.Class != measure.Cancelled {
			t.Errorf("cut short before it began: %s", r.Class)
		}
	})
}

func TestModels(t *testing.T) {
	t.Run("another one is served", func(t *testing.T) {
		s := &scripted{model: "old"}
		against(t, s, prober.Options{Input: 16}, func(t *testing.T, p *prober.Prober) {
			p.Probe(t.Context())
			s.model = "new"
			model, r := p.Probe(t.Context())
			if r.Class != measure.HTTP4xx || r.Cause != measure.NoSuchModel || model != "old" {
				t.Errorf("%q: %s %q", model, r.Class, r.Error)
			}
			if model, r = p.Probe(t.Context()); model != "new" || r.Class != measure.OK {
				t.Errorf("%q: %s %q", model, r.Class, r.Error)
			}
		})
	})
	t.Run("named, and no list to see", func(t *testing.T) {
		s := &scripted{model: "m", noList: http.StatusForbidden}
		against(t, s, prober.Options{Input: 16, Model: "m", APIKey: "sk-secret-key"}, func(t *testing.T, p *prober.Prober) {
			if model, r := p.Probe(t.Context()); model != "m" || r.Class != measure.OK || s.header.Get("Authorization") != "Bearer sk-secret-key" {
				t.Errorf("%q: %s %q", model, r.Class, r.Error)
			}
		})
	})
	t.Run("not named, and no list to see", func(t *testing.T) {
		against(t, &scripted{noList: http.StatusForbidden}, prober.Options{Input: 16, APIKey: "sk-secret-key", KeyFrom: "the variable K"}, func(t *testing.T, p *prober.Prober) {
			model, r := p.Probe(t.Context())
			if model != "" || r.Class != measure.HTTP4xx || !strings.Contains(r.Error, "the variable K") || strings.Contains(r.Error, "sk-secret") {
				t.Errorf("%q: %s %q", model, r.Class, r.Error)
			}
		})
	})
}

// A connection serves for a minute. Then a new one is made, whose set-up is measured.
func TestConnectionsAreRenewed(t *testing.T) {
	against(t, &scripted{model: "m"}, prober.Options{Input: 16}, func(t *testing.T, p *prober.Prober) {
		var fresh []int
		for i := range 15 {
			if _, r := p.Probe(t.Context()); !r.Reused {
				fresh = append(fresh, i)
			}
			time.Sleep(10 * time.Second)
		}
		if fmt.Sprint(fresh) != "[0 7 14]" { // at 0, 70 and 140 s
			t.Errorf("new connections at probes %v", fresh)
		}
	})
}
