package api

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sonde/probe/measure"
)

func head(contentType string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: " + contentType + "\r\nConnection: close\r\n\r\n"
}

// A token of digits that arrives as a number is a token: TTFT 60, gaps 100 and 20.
func TestTokensOfDigits(t *testing.T) {
	token := func(raw string) string { return event(`{"choices":[{"index":0,"delta":{"content":` + raw + `}}]}`) }
	res := once(t, script{steps: []step{{60, token("6")}, {160, token(`" x"`)}, {180, token("12.5") + finished("stop") + doneMark}}})
	ttft, _ := res.TTFT()
	if res.Class != measure.OK || res.Chunks != 3 || ttft != 60 || res.GapsMS[0] != 100 || res.GapsMS[1] != 20 {
		t.Errorf("class %q, %d chunks, TTFT %v, gaps %v", res.Class, res.Chunks, ttft, res.GapsMS)
	}
}

func TestUsageWhereverItIs(t *testing.T) {
	text := strings.Repeat(content("abcd"), 4)
	for name, last := range map[string]string{
		"whole numbers as floats": `{"choices":[],"usage":{"prompt_tokens":12.0,"completion_tokens":4e1}}`,
		"numbers as strings":      `{"choices":[],"usage":{"prompt_tokens":"12","completion_tokens":"40"}}`,
		"odd details":             `{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":40,"completion_tokens_details":"x","prompt_tokens_details":[1]}}`,
		"other names":             `{"choices":[],"usage":{"input_tokens":12,"output_tokens":40}}`,
		"Groq":                    `{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":12,"completion_tokens":40}}}`,
		"Moonshot":                `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":12,"completion_tokens":40}}]}`,
		"Cohere":                  `{"choices":[],"meta":{"tokens":{"input_tokens":12,"output_tokens":40}}}`,
		"Bedrock":                 `{"choices":[],"amazon-bedrock-invocationMetrics":{"inputTokenCount":12,"outputTokenCount":40}}`,
		"Gemini":                  `{"choices":[],"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":40}}`,
		"llama.cpp":               `{"choices":[],"timings":{"prompt_n":2,"cache_n":10,"predicted_n":40}}`,
		"null, then timings":      `{"choices":[],"usage":null,"timings":{"prompt_n":12,"predicted_n":40}}`,
		"Ollama":                  `{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":12,"eval_count":40}`,
	} {
		res := once(t, script{steps: []step{{10, text + finished("stop") + event(last) + doneMark}}})
		if res.Class != measure.OK || res.InTokens != 12 || res.OutTokens != 40 || res.Source != measure.Usage {
			t.Errorf("%s: class %q (%s), tokens %d/%d by %s", name, res.Class, res.Error, res.InTokens, res.OutTokens, res.Source)
		}
	}
}

// None of the prompt cached is something else than a server that does not count it.
func TestWhetherCachedTokensAreCounted(t *testing.T) {
	for usage, want := range map[string]struct {
		cached  int
		counted bool
	}{
		`{"prompt_tokens":12,"completion_tokens":1}`:                                                {0, false},
		`{"prompt_tokens":12,"completion_tokens":1,"prompt_tokens_details":null}`:                   {0, false},
		`{"prompt_tokens":12,"completion_tokens":1,"prompt_tokens_details":{"audio_tokens":0}}`:     {0, false},
		`{"prompt_tokens":12,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":null}}`: {0, false},
		`{"prompt_tokens":12,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0}}`:    {0, true},
		`{"prompt_tokens":12,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":8}}`:    {8, true},
		`{"prompt_tokens":12,"completion_tokens":1,"prompt_cache_hit_tokens":0}`:                    {0, true},
	} {
		res := once(t, script{steps: []step{{10, content("a") + finished("stop") + event(`{"choices":[],"usage":`+usage+`}`) + doneMark}}})
		if res.CachedTokens != want.cached || res.CachedCounted != want.counted {
			t.Errorf("%s: %d cached tokens, counted %v; want %d, %v", usage, res.CachedTokens, res.CachedCounted, want.cached, want.counted)
		}
	}
	native := event(`{"choices":[],"timings":{"prompt_n":12,"cache_n":0,"predicted_n":1}}`)
	if res := once(t, script{steps: []step{{10, content("a") + finished("stop") + native + doneMark}}}); !res.CachedCounted {
		t.Error("llama.cpp's count of none was not taken")
	}
}

// The text of an answer is kept only where a call asks for it: whole up to a bound, and
// without what the model thought.
func TestTextOfAnAnswer(t *testing.T) {
	thought := event(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`)
	reply := thought + content("a\u00e4") + content(strings.Repeat("b", longestText-4)) + content("cc") + content("d") + finished("stop") + doneMark
	for _, keep := range []bool{true, false} {
		var res Result
		inBubble(t, &server{scripts: []script{{steps: []step{{10, reply}}}}}, nil, func(c *Client) {
			res = c.Do(context.Background(), Call{Text: "hello", KeepText: keep}, quiet{})
		})
		want := ""
		if keep {
			want = "aä" + strings.Repeat("b", longestText-4)
		}
		if res.Class != measure.OK || res.Chunks != 5 || res.Text != want {
			t.Errorf("keep %v: class %q, %d chunks, %d bytes: %.10q", keep, res.Class, res.Chunks, len(res.Text), res.Text)
		}
	}
}

func TestOddUsageCostsNoToken(t *testing.T) {
	for name, last := range map[string]string{
		"a fraction": `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":4.25}}`,
		"a list":     `{"choices":[],"usage":[1,2]}`,
		"a word":     `{"choices":[],"usage":"none"}`,
		"negative":   `{"choices":[],"usage":{"completion_tokens":-1}}`,
		"objects":    `{"choices":[],"usage":{"completion_tokens":{}},"timings":5,"x_groq":[],"meta":"x"}`,
	} {
		res := once(t, script{steps: []step{{10, content("a") + content("b") + finished("stop") + event(last) + doneMark}}})
		if res.Class != measure.OK || res.OutTokens != 2 || res.Source != measure.Chunks {
			t.Errorf("%s: class %q (%s), %d tokens by %s", name, res.Class, res.Error, res.OutTokens, res.Source)
		}
	}
	// Whole numbers as floats on every chunk, a partial usage among them.
	running := func(usage string) string {
		return event(`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":` + usage + `}`)
	}
	res := once(t, script{steps: []step{{10, running(`{"prompt_tokens":5.0,"completion_tokens":1.0}`) + running(`{"prompt_tokens":5.0,"completion_tokens":2.0}`) +
		finished("stop") + usageChunk(5, 2) + event(`{"choices":[],"usage":{"prompt_tokens":5}}`) + doneMark}}})
	if res.Class != measure.OK || res.OutTokens != 2 || res.InTokens != 5 || res.Source != measure.UsagePerChunk {
		t.Errorf("class %q, tokens %d/%d by %s", res.Class, res.InTokens, res.OutTokens, res.Source)
	}
}

// xAI counts 2 tokens of answer beside 20 of reasoning: 22 tokens in 21 gaps of 10 ms.
func TestReasoningLeftOutOfTheCount(t *testing.T) {
	stream := func(last string) script {
		var steps []step
		for i := range 22 {
			field := "reasoning_content"
			if i >= 20 {
				field = "content"
			}
			steps = append(steps, step{10 * (i + 1), event(`{"choices":[{"index":0,"delta":{"` + field + `":"a"}}]}`)})
		}
		return script{steps: append(steps, step{220, finished("stop") + event(`{"choices":[],"usage":`+last+`}`) + doneMark})}
	}
	for last, want := range map[string]struct {
		out       int
		reasoning int
		source    measure.TokenSource
		noted     bool
	}{
		`{"prompt_tokens":12,"completion_tokens":2,"reasoning_tokens":20}`:                                                  {22, 20, measure.Usage, true},
		`{"prompt_tokens":12,"completion_tokens":2,"total_tokens":34,"completion_tokens_details":{"reasoning_tokens":20}}`:  {22, 20, measure.Usage, true},
		`{"prompt_tokens":12,"completion_tokens":22,"total_tokens":34,"completion_tokens_details":{"reasoning_tokens":20}}`: {22, 20, measure.Usage, false},
		`{"prompt_tokens":12,"completion_tokens":2,"total_tokens":14}`:                                                      {22, 0, measure.Chunks, true},
		`{"prompt_tokens":12,"completion_tokens":44,"total_tokens":56}`:                                                     {44, 0, measure.Usage, false},
	} {
		res := once(t, stream(last))
		if res.OutTokens != want.out || res.ReasoningTokens != want.reasoning || res.Source != want.source || (res.Note != "") != want.noted {
			t.Errorf("%s: %d tokens, %d of reasoning, by %s, note %q", last, res.OutTokens, res.ReasoningTokens, res.Source, res.Note)
		}
		if tpot, _ := res.TPOT(); want.out == 22 && tpot != 10 {
			t.Errorf("%s: TPOT %v, want 10", last, tpot)
		}
	}
}

func TestContradictoryUsage(t *testing.T) {
	for completion, want := range map[int]measure.TokenSource{1: measure.Chunks, 5: measure.Usage, 20: measure.Usage, 60: measure.Usage} {
		res := once(t, script{steps: []step{{10, strings.Repeat(content("a"), 20) + finished("stop") + usageChunk(5, completion) + doneMark}}})
		if res.Source != want || (res.Note != "") != (want == measure.Chunks) {
			t.Errorf("%d tokens in 20 chunks: by %s, note %q", completion, res.Source, res.Note)
		}
	}
}

// What a reply is shows in its bytes.
func TestContentTypesAreNotBelieved(t *testing.T) {
	events := content("a") + content("b") + finished("stop") + doneMark
	lines := `{"message":{"content":"a"},"done":false}` + "\n" + `{"message":{"content":"b"},"done":true,"done_reason":"stop"}` + "\n"
	whole := `{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	pretty := strings.NewReplacer(`{`, "{\n  ", `,`, ",\n  ", `}`, "\n}").Replace(whole)
	for _, kind := range []string{"text/event-stream", "application/json", "application/json; charset=utf-8", "application/x-ndjson", "text/plain", "application/octet-stream", "text/html", ""} {
		for name, body := range map[string]string{"events": events, "lines": lines, "whole": whole, "pretty": pretty} {
			res := once(t, script{head: head(kind), steps: []step{{10, body[:len(body)/2]}, {20, body[len(body)/2:]}}})
			streamed := name == "events" || name == "lines"
			if res.Class != measure.OK || res.Streamed != streamed || res.OutTokens != 2 || res.Finish != "stop" {
				t.Errorf("%s as %q: class %q (%s), streamed %v, %d tokens, finish %q", name, kind, res.Class, res.Error, res.Streamed, res.OutTokens, res.Finish)
			}
		}
	}
}

func TestRefusalsUnderStatus200(t *testing.T) {
	for body, want := range map[string]struct {
		class measure.Class
		says  string
	}{
		`{"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded(RPM)"},"choices":null}`: {measure.RateLimited, "rate limit exceeded(RPM)"},
		`{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`:                    {measure.BadReply, "insufficient balance"},
		`{"error_code":110,"error_msg":"Access token invalid"}`:                                     {measure.BadReply, "Access token invalid"},
		`{"error_code":18,"error_msg":"Open api qps request limit reached: too many requests"}`:     {measure.RateLimited, "too many requests"},
		`{"code":401,"msg":"Unauthorized","data":null}`:                                             {measure.HTTP4xx, "Unauthorized"},
		`{"code":"InvalidApiKey","message":"Invalid API-key provided."}`:                            {measure.HTTP4xx, "Invalid API-key provided."},
		`{"header":{"code":11200,"message":"AppIdNoAuthError"}}`:                                    {measure.BadReply, "AppIdNoAuthError"},
		`{"errors":[{"code":7009,"message":"Upstream service unavailable"}],"success":false}`:       {measure.BadReply, "Upstream service unavailable"},
		`{"errors":[{"code":429,"message":"wait"}]}`:                                                {measure.RateLimited, "wait"},
		`{"success":false,"message":"model is asleep"}`:                                             {measure.BadReply, "model is asleep"},
		`{"detail":"Not authenticated"}`:                                                            {measure.HTTP4xx, "Not authenticated"},
		`{"detail":[{"loc":["body"],"msg":"field required","type":"missing"}]}`:                     {measure.BadReply, "field required"},
		`{"status":"error","message":"boom"}`:                                                       {measure.BadReply, "boom"},
		`{"error":{"message":"prompt is too long","code":400}}`:                                     {measure.ContextLength, "prompt is too long"},
		`<?xml version="1.0"?><Error><Code>X</Code><Message>Bucket gone</Message></Error>`:          {measure.BadReply, "an XML document: Bucket gone"},
		"<!DOCTYPE html>\n<html><head>\n<title>Sign in</title></head></html>":                       {measure.BadReply, "an HTML page: Sign in"},
		`{"errCode":10013,"errMsg":"model not found"}`:                                              {measure.BadReply, "model not found"},
		`{"resultCode":"50000","resultMsg":"internal error"}`:                                       {measure.BadReply, "internal error"},
		`{"ret":-1,"msg":"no such account"}`:                                                        {measure.BadReply, "no such account"},
		`{"Response":{"Error":{"Code":"AuthFailure","Message":"unknown id"},"RequestId":"1"}}`:      {measure.BadReply, "unknown id"},
		`{"fault":{"faultstring":"Rate limit quota violation","detail":{"errorcode":"x"}}}`:         {measure.RateLimited, "Rate limit quota violation"},
		`{"exception":"java.lang.NullPointerException","status":500,"path":"/v1"}`:                  {measure.BadReply, "java.lang.NullPointerException"},
		`{"choices":[{"index":0,"delta":{},"error":{"code":502,"message":"provider is gone"}}]}`:    {measure.BadReply, "provider is gone"},
		`upstream connect error`: {measure.BadReply, "upstream connect error"},
	} {
		res := once(t, script{head: head("application/json"), steps: []step{{10, body}}})
		if res.Class != want.class || !strings.Contains(res.Error, want.says) {
			t.Errorf("%s: class %q, %q; want %q, %q", body, res.Class, res.Error, want.class, want.says)
		}
		if !strings.HasPrefix(body, "{") {
			continue
		}
		if res := once(t, script{steps: []step{{10, event(body)}}}); !res.Class.Failed() || !strings.Contains(res.Error, want.says) {
			t.Errorf("as an event, %s: class %q, %q", body, res.Class, res.Error)
		}
	}
}

func TestWhatIsNoRefusal(t *testing.T) {
	for _, rest := range []string{
		`"error":null`, `"error":false`, `"error":""`, `"error":{}`, `"errors":[]`, `"error_code":0,"error_msg":""`, `"success":true`,
		`"base_resp":{"status_code":0,"status_msg":""}`, `"code":0,"msg":"ok"`, `"code":200,"message":"success"`, `"detail":""`, `"header":{"code":0}`,
		`"result":{"code":7}`, `"status":"in_progress"`, `"country_code":"DE","message":"hello"`, `"errors_seen":0`, `"resp":{"msg":"fine","code":"success"}`,
	} {
		token := event(`{"choices":[{"index":0,"delta":{"content":"a"}}],` + rest + `}`)
		res := once(t, script{steps: []step{{10, token + token + finished("stop") + doneMark}}})
		if res.Class != measure.OK || res.Chunks != 2 {
			t.Errorf("%s: class %q (%s), %d chunks", rest, res.Class, res.Error, res.Chunks)
		}
	}
}

// A finish reason on every chunk proves no end.
func TestFinishOnEveryChunk(t *testing.T) {
	token := func(i int) string {
		return event(`{"choices":[{"index":` + strconv.Itoa(i) + `,"delta":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`)
	}
	tokens := token(0) + token(1) + token(2)
	for name, c := range map[string]struct {
		body string
		want measure.Class
	}{
		"cut":                {tokens, measure.Truncated},
		"ended by the mark":  {tokens + doneMark, measure.OK},
		"ended by its usage": {tokens + usageChunk(5, 3), measure.OK},
		"one chunk":          {token(0), measure.OK},
		"an empty reason":    {strings.ReplaceAll(tokens, `"stop"`, `""`), measure.Truncated},
	} {
		if res := once(t, script{steps: []step{{10, c.body}}}); res.Class != c.want {
			t.Errorf("%s: class %q (%s), want %q", name, res.Class, res.Error, c.want)
		}
	}
}

// Forms of a stream that are not quite those of the API, each with two tokens of text.
func TestOddFormsOfTheStream(t *testing.T) {
	const token = `{"choices":[{"index":0,"delta":{"content":"a"}}]}`
	const end = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	twice := func(chunk string) string { return event(chunk) + event(chunk) }
	for name, stream := range map[string]string{
		"one choice instead of a list":  twice(`{"choices":{"index":0,"delta":{"content":"a"}}}`) + event(end),
		"text instead of a delta":       twice(`{"choices":[{"delta":"a"}]}`) + event(end),
		"a finish reason as an object":  twice(token) + event(`{"choices":[{"delta":{},"finish_reason":{"type":"stop"}}]}`),
		"events in events":              strings.ReplaceAll(twice(token)+event(end), "data: ", "data: data: "),
		"a lower-case end mark":         twice(token) + event("[done]"),
		"Ollama's end mark":             twice(token) + event(`{"done":true}`),
		"usage in camel case":           twice(token) + event(end) + event(`{"usage":{"promptTokens":3,"completionTokens":2}}`),
		"an error field without errors": twice(`{"choices":[{"delta":{"content":"a"},"error":null}]}`) + event(end),
	} {
		res := once(t, script{steps: []step{{10, stream}}})
		if res.Class != measure.OK || res.Chunks != 2 || res.OutTokens != 2 {
			t.Errorf("%s: class %q (%s), %d chunks, %d tokens", name, res.Class, res.Error, res.Chunks, res.OutTokens)
		}
	}
}

// Streams of other APIs are not broken answers of this one.
func TestStreamsOfOtherAPIs(t *testing.T) {
	for name, stream := range map[string]string{
		"OpenAI's responses": event(`{"type":"response.output_text.delta","delta":"a"}`) +
			event(`{"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":1}}}`),
		"Anthropic's messages": event(`{"type":"message_start","message":{"content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`) +
			event(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`) + event(`{"type":"message_stop"}`),
		"Gemini's": event(`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}`),
		"Python":   event(`{'choices':[{'delta':{'content':'a'}}]}`),
	} {
		res := once(t, script{steps: []step{{10, stream}}})
		if res.Class != measure.BadReply || !strings.HasPrefix(res.Error, "response is not a chat completion: {") {
			t.Errorf("%s: class %q, %q", name, res.Class, res.Error)
		}
	}
}

// Engines say with the finish reason that they gave a request up.
func TestFinishReasonsOfFailures(t *testing.T) {
	for _, reason := range []string{`"error"`, `"abort"`, `"ABORTED"`, `{"type":"abort","message":"gone"}`} {
		res := once(t, script{steps: []step{{10, event(`{"choices":[{"delta":{"content":"a"}}]}`) + event(`{"choices":[{"delta":{},"finish_reason":`+reason+`}]}`) + doneMark}}})
		if res.Class != measure.StreamError {
			t.Errorf("finish reason %s: class %q (%s)", reason, res.Class, res.Error)
		}
	}
}

// A field that cannot be read is unknown, and a note names it.
func TestUnreadableFieldsAreNoted(t *testing.T) {
	const token = `{"choices":[{"delta":{"content":"a"}}]}`
	const end = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	for odd, field := range map[string]string{
		`{"choices":[],"usage":[{"prompt_tokens":3}]}`:                            "usage",
		`{"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":1}}`:       "usage.prompt_tokens",
		`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":"many"}}`:   "usage.completion_tokens",
		`{"choices":[],"usage":{"completion_tokens":1,"total_tokens":{"all":4}}}`: "usage.total_tokens",
		`{"choices":"none"}`:                                                           "choices",
		`{"choices":[{"delta":7}]}`:                                                    "delta",
		`{"choices":[{"delta":{},"finish_reason":["stop"]}]}`:                          "finish_reason",
		`{"choices":null,"usage":null}`:                                                "",
		`{"choices":[{"delta":null,"finish_reason":false}]}`:                           "",
		`{"choices":[],"usage":{"prompt_tokens":"3","completion_tokens":1.0}}`:         "",
		`{"choices":[],"usage":{"prompt_tokens":null,"completion_tokens_details":{}}}`: "",
	} {
		res := once(t, script{steps: []step{{10, event(token) + event(odd) + event(end) + doneMark}}})
		want := ""
		if field != "" {
			want = "field " + field + " has a value of an unexpected kind: it is treated as unknown"
		}
		if res.Class != measure.OK || res.OutTokens != 1 || res.Note != want {
			t.Errorf("%s: class %q (%s), %d tokens, note %q", odd, res.Class, res.Error, res.OutTokens, res.Note)
		}
	}
}

// Some servers count tokens where the API counts choices: it is one answer all the same.
func TestIndexThatCountsTokens(t *testing.T) {
	var steps []step
	for i := range 5 {
		steps = append(steps, step{10 * (i + 1), event(fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"content":"a"}}]}`, i))})
	}
	steps = append(steps, step{60, event(`{"choices":[{"index":5,"delta":{},"finish_reason":"stop"}]}`) + doneMark})
	res := once(t, script{steps: steps})
	if res.Class != measure.OK || res.Chunks != 5 || res.OutTokens != 5 || len(res.GapsMS) != 4 || res.GapsMS[3] != 10 {
		t.Errorf("class %q, %d chunks, %d tokens, gaps %v", res.Class, res.Chunks, res.OutTokens, res.GapsMS)
	}
}

// A server of HTTP/1.0 ends its answer by closing the connection: each request has its own.
func TestHTTP10(t *testing.T) {
	answer := script{head: "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", steps: []step{{10, content("a") + content("b") + finished("stop")}}}
	s := &server{scripts: []script{answer}}
	inBubble(t, s, nil, func(c *Client) {
		for range 2 {
			if res := c.Do(context.Background(), Call{Text: "x"}, quiet{}); res.Class != measure.OK || res.Chunks != 2 || res.Reused {
				t.Errorf("class %q (%s), %d chunks, reused %v", res.Class, res.Error, res.Chunks, res.Reused)
			}
		}
	})
}
