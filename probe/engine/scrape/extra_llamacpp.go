package scrape

import (
	"errors"
	"time"

	"sonde/probe/engine"
	"sonde/probe/opt"
)

// llama.cpp's pages beside its metrics: /slots is what moves with every token, and
// since b5441 (2025-05) the only word on the KV cache; /props tells the sizes where
// /slots is off (--no-slots).
var llamacppExtras = []extraPage{
	{
		path: "/slots", missing: "start llama-server without --no-slots", read: readSlots,
		fields: []engine.Field{engine.FieldRunning, engine.FieldMaxRunning, engine.FieldKVCapacity, engine.FieldKVUsed, engine.FieldKVFill},
	},
	{path: "/props", every: time.Minute, read: readProps, fields: []engine.Field{engine.FieldMaxRunning, engine.FieldMaxModelLen, engine.FieldKVCapacity}},
}

var errNoSlots = errors.New("no list of slots")

// readSlots reads GET /slots: an object per slot. A slot keeps its last sequence as
// cache after the request has ended: only what busy slots hold counts as used.
func readSlots(a answer, into filler) error {
	list, err := a.list()
	if err != nil {
		return err
	}
	slots := objects(list)
	if len(slots) == 0 {
		return errNoSlots
	}
	busy, capacity := 0.0, opt.Of(0)
	used, told := 0.0, false
	for _, slot := range slots {
		capacity = plus(capacity, slot.figure("n_ctx"))
		tokens := slot.figure("n_prompt_tokens") // prompt so far and generated ones; since b9282
		told = told || tokens.OK
		if processing, _ := slot["is_processing"].(bool); processing {
			busy++
			used += tokens.V
		}
	}
	into.set(engine.FieldRunning, opt.Of(busy), "is_processing")
	into.set(engine.FieldMaxRunning, opt.Of(float64(len(slots))), "slots")
	into.set(engine.FieldKVCapacity, capacity, "n_ctx")
	if told {
		into.set(engine.FieldKVUsed, opt.Of(used), "n_prompt_tokens")
		into.remark(engine.FieldKVUsed, "of busy slots; idle ones keep their last sequence as cache")
	}
	if told && capacity.V > 0 {
		into.kv([]engine.RankFill{{Fill: min(used/capacity.V, 1)}}, nil, "n_prompt_tokens")
	} else if !into.KVFill.OK {
		into.note("llama.cpp before b9282 (2026-05) does not tell how full its KV cache is: update llama-server")
	}
	return nil
}

// readProps reads GET /props. Its n_ctx is that of one slot.
func readProps(a answer, into filler) error {
	o, err := a.object()
	if err != nil {
		return err
	}
	slots := o.figure("total_slots")
	context := o.object("default_generation_settings").figure("n_ctx")
	into.fill(engine.FieldMaxRunning, slots, "total_slots")
	into.fill(engine.FieldMaxModelLen, context, "n_ctx")
	if slots.OK && context.OK {
		into.fill(engine.FieldKVCapacity, opt.Of(slots.V*context.V), "total_slots × n_ctx")
	}
	if sleeping, _ := o["is_sleeping"].(bool); sleeping {
		into.note("llama-server sleeps (--sleep-idle-seconds): the first request loads the model again")
	}
	return nil
}
