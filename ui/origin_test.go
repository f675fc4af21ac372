package ui

import (
	"slices"
	"testing"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

func TestEveryFigureTellsWhereItComesFrom(t *testing.T) {
	at := fakeStart.Add(time.Minute)
	e := &engine.Status{Have: true, Reading: engine.Reading{At: at, KVFill: opt.Of(0.1), Origins: map[engine.Field]engine.Origin{
		engine.FieldRunning: {Source: "tgi_batch_current_size", At: at},
		engine.FieldKVFill:  {Source: "/slots n_prompt_tokens\x1b[2J", At: at.Add(-12 * time.Second), Remark: "of busy slots"},
		engine.FieldTTFT:    {Source: "not of this panel", At: at},
	}}}
	want := []string{"fill /slots n_prompt_tokens[2J (of busy slots), older by 12 s", "run tgi_batch_current_size"}
	if got := origins(e); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := origins(&engine.Status{}); got != nil {
		t.Errorf("%q of nothing", got)
	}
}
