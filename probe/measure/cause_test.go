package measure

import "testing"

// The words of engines and gateways, as reported in public issues.
func TestCauseOf(t *testing.T) {
	for message, want := range map[string]Cause{
		"As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one.": NoTemplate,
		"Cannot use chat template functions because tokenizer.chat_template is not set and no template argument was passed!":                              NoTemplate,
		"Template error: template not found":    "",
		"No chat template found for this model": NoTemplate,
		"This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?": NotChatModel,
		"The model does not support Chat Completions API":                                                                          NotChatModel,
		`"nomic-embed-text" does not support chat`:                                                                                 NotChatModel,
		"this model only supports embeddings":                                                                                      NotChatModel,
		"org/embed-0 is an embedding model":                                                                                        NotChatModel,
		"model not found":                                                                                                          NoSuchModel,
		"The model `llama-9` does not exist.":                                                                                      NoSuchModel,
		`model "x" not found, try pulling it first`:                                                                                NoSuchModel,
		"Invalid model name passed in model=x":                                                                                     NoSuchModel,
		"the adapter was not found":                                                                                                "",
		"This model does not support the parameter max_tokens":                                                                     "",
		"This model's maximum context length is 8192 tokens":                                                                       "",
		"`max_tokens` is not supported with this model":                                                                            "",
		"invalid chat message: content is required":                                                                                "",
		"model x does not support tools in chat":                                                                                   "",
		"You are not allowed to sample from this model":                                                                            "",
	} {
		if got := CauseOf(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
