package api

import "sonde/probe/plain"

// usage are the tokens that a server counted.
type usage struct {
	prompt, completion int
	reasoning, cached  int
	total              int  // 0 if unknown
	counted            bool // cached is a count, if only of none
	own                bool // the engine's own counts: the API's go before them
}

// readUsage takes usage from where the API has it.
func (c *chunk) readUsage(v value) {
	if unread := c.usage.read(v); unread != "" {
		c.unread = unread
	}
}

// read takes the counts under all the names that they have. It returns the name of one that
// is no count.
func (u *usage) read(v value) (unread string) {
	if v != nil && v[0] != '{' {
		return "usage"
	}
	in := v.cursor()
	for end := in.enter(); in.more(end); {
		var buffer [32]byte
		name := in.name
		v := in.value()
		count, counted := &u.total, v
		switch string(plain.Folded(buffer[:0], string(name))) {
		case "prompttokens", "inputtokens", "inputtokencount", "prompttokencount", "promptevalcount":
			count = &u.prompt
		case "completiontokens", "outputtokens", "outputtokencount", "candidatestokencount", "generatedtokens", "evalcount":
			count = &u.completion
		case "totaltokens", "totaltokencount":
		case "reasoningtokens", "thoughtstokencount": // SGLang: at the top level
			count = &u.reasoning
		case "completiontokensdetails", "outputtokensdetails":
			count, counted = &u.reasoning, v.get("reasoning_tokens")
		case "prompttokensdetails", "inputtokensdetails":
			count, counted = &u.cached, v.get("cached_tokens")
		case "promptcachehittokens", "cachedtokens": // DeepSeek, Moonshot
			count = &u.cached
		case "tokens": // Cohere's meta
			u.read(v)
			continue
		default:
			continue
		}
		n, ok := counted.whole()
		if counted != nil && !ok {
			unread = "usage." + string(name)
		}
		u.counted = u.counted || ok && count == &u.cached
		*count = max(*count, n)
	}
	return unread
}

// places are where else vendors put usage.
var places = [][]string{
	{"x_groq", "usage"}, {"meta"}, {"metrics"}, {"message", "usage"}, {"response", "usage"}, {"data", "usage"}, {"delta", "usage"},
	{"amazon-bedrock-invocationMetrics"}, {"usageMetadata"}, {"usage_metadata"}, {"token_usage"}, {"stats"}, {"statistics"}, {"info"},
}

// vendorUsage takes counts from another place where the usual one has none.
func (c *chunk) vendorUsage() {
	for _, place := range places {
		if c.usage.completion > 0 {
			return
		}
		var u usage
		if u.read(c.get(place[0]).get(place[1:]...)); u.known() {
			c.usage, c.usage.own = u, true
		}
	}
}

// merge takes the counts of a further chunk. They only grow: a later one may be partial.
// What the engine counts itself only stands in for the API's usage.
func (u *usage) merge(more usage) {
	switch {
	case !more.known() || more.own && !u.own && u.completion > 0:
	case u.own && !more.own && more.completion > 0:
		*u = more
	default:
		u.own = more.own
		u.prompt, u.completion = max(u.prompt, more.prompt), max(u.completion, more.completion)
		u.reasoning, u.cached = max(u.reasoning, more.reasoning), max(u.cached, more.cached)
		u.total, u.counted = max(u.total, more.total), u.counted || more.counted
	}
}

// withReasoning adds the reasoning to the output where the server left it out: the total
// says so, or without one a completion shorter than its reasoning.
func (u *usage) withReasoning() (corrected bool) {
	apart := u.total == u.prompt+u.completion+u.reasoning || u.total == 0 && u.reasoning > u.completion
	if u.reasoning == 0 || !apart {
		return false
	}
	u.completion += u.reasoning
	return true
}

// engine takes an engine's own counts where the API's are missing.
func (u *usage) engine(prompt, completion int) {
	if u.completion == 0 && prompt+completion > 0 {
		u.prompt, u.completion, u.own = max(u.prompt, prompt), completion, true
	}
}

// known reports whether there are any counts. A usage of zeros means nothing: Ollama's
// completions put one on every chunk.
func (u *usage) known() bool { return u.prompt+u.completion > 0 }
