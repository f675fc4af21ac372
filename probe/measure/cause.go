package measure

import "regexp"

// Cause is why a server refuses a model, where its words name a cause that a flag helps
// against. "" is any other.
type Cause string

// Causes.
const (
	NotChatModel Cause = "not_a_chat_model"
	NoTemplate   Cause = "no_chat_template"
	NoSuchModel  Cause = "model_not_found"
)

var causeWords = []struct {
	cause Cause
	words *regexp.Regexp
}{
	{NoTemplate, regexp.MustCompile(`(?i)(no|without|missing|provide|define|lacks?|require[sd]?) (a |any |the )?(default )?chat.?template|` +
		`chat.?template(s|\.jinja)?\W* (is |are |was |has )?(not|missing|required|none|empty|undefined)`)},
	{NotChatModel, regexp.MustCompile(`(?i)(not|n't) (a |an )?(chat|generative|generation|text.?generation|causal)\b|` +
		`(not|n't) (support|compatible with|available (for|in|at|via)|allow|intended for|suitable for|usable for)\w* (the )?(\W?/?v1/)?(chat|text.?generation|generate|completion)|` +
		`only (supports?|for|be used for|available for) \W?(embed|rerank|scor|pooling|classif|transcri|speech|moderat)|` +
		`is an? (embedding|rerank|reranking|reranker|reward|pooling|moderation|speech|transcription)s? model|unsupported (operation|task|endpoint)\W* .*chat`)},
	{NoSuchModel, regexp.MustCompile(`(?i)\bmodels?\b.{0,160}?\b(does not exist|doesn't exist|not found|not available|is not served|is not loaded)|` +
		`\b(unknown|no such|invalid) model\b|model_not_found`)},
}

// CauseOf reads a server's refusal.
func CauseOf(message string) Cause {
	for _, c := range causeWords {
		if c.words.MatchString(message) {
			return c.cause
		}
	}
	return ""
}

// Advice is what helps; "" where the cause is another.
func (c Cause) Advice() string {
	switch c {
	case NotChatModel:
		return "the model is not one for chat: name another with --model, or try --api completions if it is a base model"
	case NoTemplate:
		return "the model has no chat template: use --api completions, name another model with --model, or start the engine with a template (vLLM: --chat-template)"
	case NoSuchModel:
		return "name a model that the server lists at /v1/models with --model, or load this one"
	}
	return ""
}
