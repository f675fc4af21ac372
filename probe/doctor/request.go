package doctor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"sonde/probe/api"
	"sonde/probe/engine"
	"sonde/probe/measure"
)

// The one request that is sent.
const (
	requestText   = "Count from one to eight."
	requestTokens = 8
)

// nobody observes nothing: the record of the request is enough.
type nobody struct{}

func (nobody) Sent(time.Duration)                      {}
func (nobody) Token(time.Duration, time.Duration, int) {}

// request sends one streaming request and examines the form of its answer.
func (r *Report) request(ctx context.Context, o Options, addr api.Address, id engine.Identity) {
	s := r.section("request").via(r.URL, o.rights(addr))
	client, err := api.NewClient(api.Options{
		Address: addr, Kind: api.Kind(o.API), Model: id.Model, Engine: id.Kind,
		APIKey: o.APIKey, Header: o.Header, TLS: o.TLS, Idle: idleTimeout, Epoch: time.Now(),
	})
	if err != nil {
		s.failed("answer", err.Error(), "")
		return
	}
	defer client.Close()
	res := client.Do(ctx, api.Call{Text: requestText, MaxTokens: requestTokens}, nobody{})
	if res.Class != measure.OK {
		_, advice := o.aboutKey(addr)
		s.refused(res, advice+": requests need more than the model list")
		return
	}
	ttft, isStream := res.TTFT()
	if !isStream {
		s.failed("answer", "not streamed: no TTFT, gap or TPOT", "enable streaming on the server, or bypass the gateway that buffers it")
		return
	}
	s.ok("answer", fmt.Sprintf("streamed: %d tokens in %d chunks, TTFT %.0f ms", res.OutTokens, res.Chunks, ttft))
	s.streamed(res)
	for _, note := range client.Notes() {
		s.ok("note", note)
	}
}

// refused says why there is no answer.
func (s section) refused(res api.Result, keyAdvice string) {
	name, advice := "answer", cmp.Or(res.Cause.Advice(), adviceFor[res.Class])
	if keyRefused(res.Status) {
		name, advice = "key", keyAdvice
	}
	s.failed(name, fmt.Sprintf("%s: %s", res.Class, res.Error), advice)
}

// adviceFor says what to do about a failure where its message does not.
var adviceFor = map[measure.Class]string{
	measure.HTTP4xx:        "check the URL, --model and --api",
	measure.HTTP5xx:        "check the server's log",
	measure.RateLimited:    "wait, or raise the rate limit of this key",
	measure.Loading:        "wait until the model is loaded",
	measure.StreamError:    "check the server's log",
	measure.Truncated:      "look for a gateway or a time limit that cuts answers short",
	measure.ConnectionLost: "check the server's log, and look for a gateway that drops connections",
	measure.Timeout:        "check whether the server is busy or stuck",
	measure.Empty:          "check --model and --api",
	measure.ContextLength:  "check --model",
	measure.Redirect:       "use the address that it redirects to",
	measure.BadReply:       "check the URL: it should be an OpenAI-compatible API",
}

// tokensInGap is the number of tokens in a chunk from which on a gap is not one token.
const tokensInGap = 1.2

// streamed examines a streamed answer: where its counts come from, whether each chunk is
// one token, and what precedes the first token, none of which counts as one.
func (s section) streamed(res api.Result) {
	switch res.Source {
	case measure.Chunks:
		s.missing("usage", "not reported: tokens are estimated from chunks", "make the server accept stream_options.include_usage")
	case measure.UsagePerChunk:
		s.ok("usage", "reported by the server with each chunk")
	default:
		s.ok("usage", "reported by the server")
	}
	perChunk := float64(res.OutTokens) / float64(res.Chunks)
	switch {
	case res.Chunks > 2 && res.Coalesced == res.Chunks-1:
		s.missing("chunks", "all arrived at once: something on the way buffers them", "turn off buffering in the proxy (nginx: proxy_buffering off), or bypass it")
	case perChunk > tokensInGap:
		s.missing("chunks", fmt.Sprintf("%.1f tokens in each: a gap is not one token", perChunk), "use TPOT instead of the gap")
	default:
		s.ok("chunks", fmt.Sprintf("%.1f tokens in each", perChunk))
	}
	text := "the response headers arrive with the first token"
	if early := res.First - res.Head; early > 0 {
		text = fmt.Sprintf("the response headers arrive %.1f ms before the first token", early.Seconds()*1000)
	}
	if res.Opening > 0 {
		text += ", with a chunk without text that is not counted"
	}
	s.ok("opening", text)
}
