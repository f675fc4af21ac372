package load

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"sonde/probe/api"
	"sonde/probe/arrivals"
	"sonde/probe/frame"
	"sonde/probe/measure"
)

// spoken are how many messages a call holds, and the last answer among them.
func spoken(t *testing.T, call api.Call) (messages int, answer string) {
	t.Helper()
	var list []struct{ Role, Content string }
	if err := json.Unmarshal(call.Messages, &list); err != nil {
		t.Fatalf("%v: %q", err, call.Messages)
	}
	if len(list) > 1 {
		answer = list[len(list)-2].Content
	}
	return len(list), answer
}

// answering numbers the answers; the given ones fail.
func answering(failing ...int) func(n int) api.Result {
	return func(n int) api.Result {
		res := api.Result{Text: fmt.Sprint("answer ", n), Request: measure.Request{InTokens: 10, OutTokens: 5, Source: measure.Usage}}
		if slices.Contains(failing, n) {
			res.Class = measure.ContextLength
		}
		return res
	}
}

func TestTurnsSendTheHistory(t *testing.T) {
	s := &fakeServer{service: time.Second, reply: answering()}
	records := bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 1, InputTokens: 10, OutputTokens: 5, Turns: 3})
		after(6500 * time.Millisecond)
	})
	for i, want := range []struct {
		turn, messages int
		conversation   uint64
		answer         string
	}{{1, 1, 1, ""}, {2, 3, 1, "answer 1"}, {3, 5, 1, "answer 2"}, {1, 1, 4, ""}, {2, 3, 4, "answer 4"}, {3, 5, 4, "answer 5"}} {
		r := records[i]
		if r.Turn != want.turn || r.Conversation != want.conversation || r.RequestedIn != 10 {
			t.Errorf("request %d: turn %d of conversation %d, %d tokens requested; want turn %d of %d, 10", i+1, r.Turn, r.Conversation, r.RequestedIn, want.turn, want.conversation)
		}
		if history := min(want.turn-1, 1) * 15; r.HistoryTokens != history { // every answer is counted as 10 and 5
			t.Errorf("request %d: a history of %d tokens, want %d", i+1, r.HistoryTokens, history)
		}
		messages, answer := spoken(t, s.calls[i])
		if messages != want.messages || answer != want.answer || !s.calls[i].KeepText {
			t.Errorf("request %d: %d messages, after the answer %q; want %d, %q", i+1, messages, answer, want.messages, want.answer)
		}
	}
}

func TestWithoutTurnsRequestsStandAlone(t *testing.T) {
	s := &fakeServer{service: time.Second, reply: answering()}
	records := bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 1, InputTokens: 10, Turns: 1, Think: time.Hour})
		after(2500 * time.Millisecond)
	})
	for i, r := range records {
		if call := s.calls[i]; r.Turn != 0 || r.Conversation != 0 || call.KeepText || call.Text == "" || call.Messages != nil {
			t.Errorf("request %d: turn %d of conversation %d, call %+v", i+1, r.Turn, r.Conversation, call)
		}
	}
	if len(records) != 3 {
		t.Errorf("%d requests in 2.5 s, want 3", len(records))
	}
}

func TestAFailureEndsTheConversation(t *testing.T) {
	s := &fakeServer{service: time.Second, reply: answering(2)}
	records := bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 1, InputTokens: 10, Turns: 9})
		after(4500 * time.Millisecond)
	})
	var turns []int
	for _, r := range records {
		turns = append(turns, r.Turn)
	}
	if want := []int{1, 2, 1, 2, 3, 4}; !slices.Equal(turns, want) { // the last is cancelled as the pool closes
		t.Fatalf("turns %v, want %v", turns, want)
	}
	if messages, answer := spoken(t, s.calls[3]); messages != 3 || answer != "answer 3" {
		t.Errorf("the new conversation's turn 2 has %d messages, after %q", messages, answer)
	}
}

// The pauses are uniform within a fifth of the mean. The largest distance of 1,000 of them from
// that distribution exceeds 1.95/√1000 with a probability of 0.1 % (Kolmogorov, Smirnov).
func TestThinkTimesScatterAroundTheirMean(t *testing.T) {
	const n, think = 1000, 10 * time.Second
	s := &fakeServer{service: time.Second, reply: answering()}
	bubble(t, s, func(p *Pool) {
		p.SetBudget(n + 1)
		p.Set(frame.Load{Concurrency: 1, InputTokens: 1, Turns: n + 1, Think: think})
		after(4 * time.Hour)
	})
	var shares []float64 // 0 at 8 s, 1 at 12 s
	for i := 1; i < len(s.begun); i++ {
		pause := s.begun[i] - s.begun[i-1] - time.Second
		shares = append(shares, (pause.Seconds()-8)/4)
	}
	if len(shares) != n {
		t.Fatalf("%d pauses, want %d", len(shares), n)
	}
	slices.Sort(shares)
	for i, share := range shares {
		if share < 0 || share > 1 || math.Abs(share-float64(i)/n) > 1.95/math.Sqrt(n) {
			t.Fatalf("pause %d of %d, by length: %.3f of the way from 8 to 12 s", i, n, share)
		}
	}
}

func TestANewConversationBeginsAtOnce(t *testing.T) {
	s := &fakeServer{service: time.Second, reply: answering()}
	bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Concurrency: 1, InputTokens: 1, Turns: 2, Think: 10 * time.Second})
		after(15 * time.Second)
	})
	if pause := s.begun[2] - s.begun[1]; pause != time.Second {
		t.Errorf("a conversation begins %v after the last turn of the one before began, want 1 s: when that has ended", pause)
	}
}

// thinking lets eight streams finish their first turn: then they think for about an hour.
func thinking(p *Pool) {
	p.Set(frame.Load{Concurrency: 8, InputTokens: 1, Turns: 5, Think: time.Hour})
	after(time.Minute)
}

func TestThinkingStreamsArePartOfTheLoad(t *testing.T) {
	s := &fakeServer{service: time.Second, reply: answering()}
	bubble(t, s, func(p *Pool) {
		thinking(p)
		p.Set(frame.Load{Concurrency: 10, InputTokens: 1, Turns: 5, Think: time.Hour})
		after(time.Minute)
		if begun, _, _, _ := s.counts(); begun != 10 {
			t.Errorf("%d requests begun, want 8 and 2 more", begun)
		}
		p.Set(frame.Load{Concurrency: 3, InputTokens: 1, Turns: 5, Think: time.Hour})
		after(0)
		if p.running != 3 {
			t.Errorf("%d streams right after lowering, want 3", p.running)
		}
		p.Set(frame.Load{Concurrency: 4, InputTokens: 1, Turns: 5, Think: time.Hour})
		after(time.Minute)
		if begun, _, _, _ := s.counts(); begun != 11 {
			t.Errorf("%d requests begun, want one more", begun)
		}
		after(2 * time.Hour)
		last := s.calls[11:]
		begins := 0
		for _, call := range last {
			if n, _ := spoken(t, call); n == 1 {
				begins++
			}
		}
		if len(last) < 4 || begins > 0 {
			t.Errorf("of %d later requests %d began conversations: those that went on thinking should go on", len(last), begins)
		}
	})
}

func TestThinkingEndsWithTheLoad(t *testing.T) {
	for name, end := range map[string]func(p *Pool){
		"aborted": func(p *Pool) { p.Abort() },
		"drained": func(p *Pool) { p.Set(frame.Load{Turns: 5, Think: time.Hour}) },
		"a rate": func(p *Pool) {
			p.Set(frame.Load{Rate: 1e-4, Arrivals: arrivals.Poisson, Concurrency: 8, Turns: 5, Think: time.Hour})
		},
	} {
		s := &fakeServer{service: time.Second, reply: answering()}
		bubble(t, s, func(p *Pool) {
			thinking(p)
			end(p)
			after(0)
			if p.running != 0 {
				t.Errorf("%s: %d streams are left", name, p.running)
			}
		})
	}
	s := &fakeServer{service: time.Second, reply: answering()}
	bubble(t, s, func(p *Pool) {
		thinking(p)
		p.Set(frame.Load{Concurrency: 8, InputTokens: 1, Turns: 5})
		after(0)
		if _, running, _, _ := s.counts(); running != 8 {
			t.Errorf("%d requests in flight without a think time, want 8 at once", running)
		}
	})
}

// In an open loop each arrival is the next turn of its slot's conversation: no think times.
func TestArrivalsTakeTurns(t *testing.T) {
	s := &fakeServer{service: 100 * time.Millisecond, reply: answering()}
	records := bubble(t, s, func(p *Pool) {
		p.Set(frame.Load{Rate: 1, Concurrency: 4, InputTokens: 10, Turns: 2, Think: time.Hour})
		after(2500 * time.Millisecond)
		p.FireLong(500) // beside the conversations
		after(2 * time.Second)
		p.Abort()
		p.Set(frame.Load{Rate: 1, Concurrency: 4, InputTokens: 10, Turns: 2})
		after(100 * time.Millisecond)
	})
	var turns []int
	for _, r := range records {
		turns = append(turns, r.Turn)
	}
	if want := []int{1, 2, 1, 0, 2, 1, 1}; !slices.Equal(turns, want) {
		t.Errorf("turns %v, want %v", turns, want)
	}
}
