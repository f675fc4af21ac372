package probe

import (
	"testing"

	"sonde/probe/engine"
	"sonde/probe/frame"
)

// A long prompt is 16 times the usual one, from 8,192 to 65,536 tokens; of the
// bounds that the server has, the closer one holds, less 64 tokens for a template.
func TestLongPromptFitsTheServer(t *testing.T) {
	for _, c := range []struct {
		name                   string
		asked, model, in, want int
	}{
		{"unknown bounds", 256, 0, 0, 8192},
		{"16 times", 1024, 0, 0, 16384},
		{"context", 256, 4096, 0, 4096 - 128 - 64},
		{"prompt limit", 256, 0, 4095, 4095 - 64},
		{"prompt limit below the context", 256, 8192, 4095, 4095 - 64},
		{"context below the prompt limit", 256, 4096, 4095, 4096 - 128 - 64},
		{"never shorter than the usual one", 256, 300, 0, 256},
	} {
		id := engine.Identity{MaxModelLen: c.model, MaxInputLen: c.in}
		if got := longTokens(frame.Load{InputTokens: c.asked, OutputTokens: 128}, id); got != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got, c.want)
		}
	}
}
