package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"sonde/probe/api"
	"sonde/probe/engine"
)

// tokenizer asks the engine to count a prompt, which generates nothing.
func (r *Report) tokenizer(ctx context.Context, o Options, addr api.Address, id engine.Identity) {
	s := r.section("engine")
	header := make(http.Header)
	api.SetCredentials(header, o.APIKey, addr.User, o.Header)
	base := *addr.Base
	base.RawQuery = ""
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = o.TLS
	config := engine.Config{
		Base: strings.TrimRight(base.String(), "/"), Query: addr.Base.RawQuery, Header: header,
		Client: &http.Client{Transport: transport},
	}
	defer transport.CloseIdleConnections()
	if n, ok := engine.CountTokens(ctx, config, id, requestText, api.Kind(o.API) == api.Chat); ok {
		s.ok("tokenizer", fmt.Sprintf("/tokenize counts %d tokens in a test prompt: prompts get their asked length at once", n))
		return
	}
	s.missing("tokenizer", "none that can be asked: the first prompts may be longer or shorter than asked", "nothing: lengths are learned from the usage of the answers")
}

// engine says which engine it is.
func (r *Report) engine(id engine.Identity) {
	s := r.section("engine")
	switch {
	case id.Kind == "":
		s.missing("engine", "not recognised: measuring works, queue and KV cache are not shown", "give the engine's metrics page with --metrics URL")
	case id.Version == "":
		s.ok("engine", id.Name+", version not told")
	default:
		s.ok("engine", id.Name+" "+id.Version)
	}
}

// metrics says whether the engine's own word can be read, and what is missing in it.
func (r *Report) metrics(status engine.Status) {
	s := r.section("engine")
	if !status.Have {
		s.unread("metrics", status.Why)
		return
	}
	where := "read"
	if u, err := url.Parse(status.Identity.MetricsURL); err == nil && u.Host != "" {
		where = "at " + api.Redacted(u)
	}
	s.ok("metrics", where)
	if absent := absentFields(&status.Reading); len(absent) > 0 {
		s.missing("metrics fields", "not on the page: "+strings.Join(absent, ", "), "a newer version of the engine may have them; some come with the first requests")
	} else {
		s.ok("metrics fields", "all")
	}
	for _, note := range status.Reading.Notes {
		s.ok("metrics note", note)
	}
}

// absentFields names what a reading does not hold.
func absentFields(r *engine.Reading) []string {
	var absent []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"running", r.Running.OK}, {"waiting", r.Waiting.OK}, {"KV cache fill", r.KVFill.OK}, {"preemptions", r.Preemptions.OK},
		{"prefix hits", r.PrefixHits.OK || r.PrefixHitRate.OK}, {"prompt tokens", r.PromptTokens.OK},
		{"generated tokens", r.GenerationTokens.OK}, {"TTFT", len(r.TTFT.Bounds) > 0}, {"gap", len(r.Gap.Bounds) > 0},
		{"queue time", len(r.Queue.Bounds) > 0}, {"prefill time", len(r.Prefill.Bounds) > 0}, {"E2E", len(r.E2E.Bounds) > 0},
	} {
		if !f.has {
			absent = append(absent, f.name)
		}
	}
	return absent
}
