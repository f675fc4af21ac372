package probe

import (
	"context"
	"slices"
	"testing"
	"time"

	"sonde/gpu"
	"sonde/probe/engine"
	"sonde/probe/frame"
	"sonde/probe/opt"
	"sonde/probe/prompt"
)

// twoNodes are four GPUs of two machines: two are given to pods, two are not.
func twoNodes() []gpu.Reading {
	return []gpu.Reading{
		{ID: "a0", Host: "node-a", Exporter: "10.0.0.1:9400", Pod: "vllm-0", SM: opt.Of(0.2)},
		{ID: "a1", Host: "node-a", Exporter: "10.0.0.1:9400", Pod: "vllm-0", SM: opt.Of(0.9)},
		{ID: "b0", Host: "node-b.example.com", Exporter: "10.0.0.2:9400", SM: opt.Of(0.5)},
		{ID: "b1", Host: "node-b.example.com", Exporter: "10.0.0.2:9400"},
	}
}

func TestGPUsOfAReplica(t *testing.T) {
	for name, c := range map[string]struct {
		chosen   string
		replicas []engine.Replica
		want     []string // IDs that the Frame keeps
		scope    string
		gpus     []int // by replica
		sm       opt.Float
	}{
		"all": {"", []engine.Replica{{Name: "x", Pod: "vllm-0"}, {Name: "y", Hosts: []string{"node-b"}}},
			[]string{"a0", "a1", "b0", "b1"}, "", []int{2, 2}, opt.Of(0.9)},
		"by pod": {"x", []engine.Replica{{Name: "x", Pod: "vllm-0", Hosts: []string{"node-b"}}, {Name: "y"}},
			[]string{"a0", "a1"}, "of x", []int{2, 0}, opt.Of(0.9)},
		"by address": {"x", []engine.Replica{{Name: "x", Instance: "10.0.0.2:9400"}, {Name: "y"}},
			[]string{"b0", "b1"}, "of x", []int{2, 0}, opt.Of(0.5)},
		"by machine": {"x", []engine.Replica{{Name: "x", Instance: "10.0.0.2:8000", Hosts: []string{"node-b", "10.0.0.2"}}, {Name: "y"}},
			[]string{"b0", "b1"}, "of the machine of x", []int{2, 0}, opt.Of(0.5)},
		"by the exporter's machine": {"x", []engine.Replica{{Name: "x", Hosts: []string{"10.0.0.2"}}, {Name: "y"}},
			[]string{"b0", "b1"}, "of the machine of x", []int{2, 0}, opt.Of(0.5)},
		"two on a machine": {"x", []engine.Replica{{Name: "x", Hosts: []string{"node-b"}}, {Name: "y", Hosts: []string{"node-b"}}},
			[]string{"b0", "b1"}, "of the machine of x", []int{0, 0}, opt.Float{}},
		"rank of a server": {"x", []engine.Replica{{Name: "x", OfServer: true, Pod: "vllm-0", Hosts: []string{"node-a"}}, {Name: "y", OfServer: true, Pod: "vllm-0", Hosts: []string{"node-a"}}},
			[]string{"a0", "a1"}, "of the machine of x", []int{0, 0}, opt.Float{}},
		"no label": {"x", []engine.Replica{{Name: "x", Instance: "10.9.9.9:8000", Hosts: []string{"10.9.9.9"}}, {Name: "y"}},
			[]string{"a0", "a1", "b0", "b1"}, "all: no label shows which belong to x", []int{0, 0}, opt.Float{}},
		"it is gone": {"x", []engine.Replica{{Name: "y", Pod: "vllm-0"}},
			[]string{"a0", "a1", "b0", "b1"}, "all: x is gone", []int{2}, opt.Of(0.9)},
	} {
		var f frame.Frame
		f.GPU.GPUs, f.Engine.Replicas, f.Engine.Reading.Replica = twoNodes(), c.replicas, c.chosen
		published := slices.Clone(c.replicas)
		placeGPUs(&f)
		var ids []string
		for _, g := range f.GPU.GPUs {
			ids = append(ids, g.ID)
		}
		if !slices.Equal(ids, c.want) || f.GPU.Scope.String() != c.scope {
			t.Errorf("%s: GPUs %q %q, want %q %q", name, ids, f.GPU.Scope, c.want, c.scope)
		}
		for i, r := range f.Engine.Replicas {
			if r.GPUs != c.gpus[i] || i == 0 && r.SM != c.sm {
				t.Errorf("%s: %+v, want %d GPUs, SM %v", name, r, c.gpus[i], c.sm)
			}
			if c.replicas[i].GPUs != published[i].GPUs || c.replicas[i].SM != published[i].SM {
				t.Errorf("%s: what the source had published was changed", name)
			}
		}
	}
}

// The GPUs of the other replica are newer: they say nothing about these.
func TestAgeOfAReplicasGPUs(t *testing.T) {
	taken := time.Unix(1000, 0)
	var f frame.Frame
	f.Engine.Replicas, f.Engine.Reading.Replica = []engine.Replica{{Name: "x", Pod: "p"}, {Name: "y", Pod: "q"}}, "x"
	f.GPU.At = taken.Add(time.Minute)
	f.GPU.GPUs = []gpu.Reading{{ID: "a", Pod: "p", At: taken}, {ID: "b", Pod: "q", At: f.GPU.At}}
	if placeGPUs(&f); !f.GPU.At.Equal(taken) {
		t.Errorf("values of %v, want %v", f.GPU.At, taken)
	}
}

// chosenFrom notes what was chosen.
type chosenFrom struct{ asked []string }

func (c *chosenFrom) Run(context.Context)    {}
func (c *chosenFrom) Latest() engine.Status  { return engine.Status{} }
func (c *chosenFrom) SetModel(name string)   { c.asked = append(c.asked, "model "+name) }
func (c *chosenFrom) SetReplica(name string) { c.asked = append(c.asked, "replica "+name) }

// A choice goes to the source and leaves a mark in the next Frame; before there is a
// source there is nothing to choose from.
func TestChoicesReachTheSource(t *testing.T) {
	prompts, err := prompt.Open("", prompt.Unique, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{URL: "http://h:1", API: "chat", Prompts: prompts, MaxConcurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.ChooseReplica("too early")
	source := &chosenFrom{}
	s.conn.Store(&connection{engine: source})
	s.ChooseReplica("h:2")
	s.ChooseModel("b")
	s.ChooseReplica("")
	if want := []string{"replica h:2", "model b", "replica "}; !slices.Equal(source.asked, want) {
		t.Errorf("asked for %q, want %q", source.asked, want)
	}
	var said []string
	_, events, _ := s.carryOut(s.now(), s.now())
	for _, e := range events {
		said = append(said, e.Text)
	}
	if want := []string{"figures of the engine and its GPUs: only h:2", "figures of the engine: model b", "figures of the engine and its GPUs: all replicas"}; !slices.Equal(said, want) {
		t.Errorf("events %q, want %q", said, want)
	}
}
