package setup

import (
	"context"
	"testing"
	"time"

	"sonde/config"
	"sonde/probe/frame"
	"sonde/probe/sim"
)

// Two endpoints get the same load, whatever the command; the second one has a run and a verdict
// of its own, and another model is not the same work.
func TestASecondEndpointUnderTheSameLoad(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c := asked()
	second := asked()
	engine, err := sim.New(sim.Options{Speed: 20, Model: "Qwen2.5-7B"})
	if err != nil {
		t.Fatal(err)
	}
	if second.URL, _, err = engine.Listen(ctx, "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	second.Canary.Name = "second"
	c.Beside = &second
	m, b := openBoth(ctx, t, c)
	both := Both{Session: m.Session, Second: b.Session}
	both.ChangeLoad(func(l *frame.Load) { l.Concurrency = 3 })
	same(t, m, b, 3)
	both.SetLoad(frame.Load{Concurrency: 100, InputTokens: 50, OutputTokens: 5, Prefix: "unique"})
	same(t, m, b, 8) // the safety cap
	var newest *frame.Frame
	b.Differs(&frame.Frame{Load: frame.LoadState{Requested: m.Session.Load()}}) // before the first one's model is known
	for newest == nil || newest.Load.Requested != m.Session.Load() || b.Verdict().Rule == "" || !timed(b) {
		select {
		case <-ctx.Done():
			t.Fatal("the second endpoint shows nothing")
		case <-m.Session.Tick():
		}
		for _, f := range m.Session.Since(0) {
			newest = f
		}
	}
	there := *newest
	there.Engine.Identity.Model = "sim/Qwen2.5-7B"
	if why := b.Differs(&there); len(why) > 0 {
		t.Errorf("the same work differs: %q", why)
	}
	if why := b.Differs(newest); len(why) != 1 || why[0] != "model: sim/Qwen2.5-7B there, sim/Llama-3.1-8B here" {
		t.Errorf("another model: %q", why)
	}
	both.Abort()
	same(t, m, b, 0)
}

func openBoth(ctx context.Context, t *testing.T, c config.Config) (*Measurement, *Beside) {
	t.Helper()
	m, err := Open(ctx, c, "test")
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenBeside(ctx, c, "test", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []*Measurement{m, b.Measurement} {
		if err := <-one.Connect(ctx, one.Session.Begin); err != nil {
			t.Fatal(err)
		}
	}
	return m, b
}

// timed reports whether the timeline of the second endpoint has begun.
func timed(b *Beside) bool {
	run, err := b.Run()
	return err == nil && run != nil && run.Name == "second" && run.Timed()
}

func same(t *testing.T, m *Measurement, b *Beside, streams int) {
	t.Helper()
	if first, second := m.Session.Load(), b.Session.Load(); first != second || first.Concurrency != streams {
		t.Errorf("loads %+v and %+v, not of %d streams", first, second, streams)
	}
}
