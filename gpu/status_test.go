package gpu

import "testing"

func TestReadingsOfAPage(t *testing.T) {
	s := Status{Source: "dcgm http://127.0.0.1:7000/gpu"}
	for page, want := range map[string]bool{"http://127.0.0.1:7000/gpu": true, "http://u:p@127.0.0.1:7000/gpu?k=1": true, "": false, "http://127.0.0.1:9400/metrics": false} {
		if got := s.From(page); got != want {
			t.Errorf("%q: %t", page, got)
		}
	}
	if (&Status{Source: "nvml"}).From("http://127.0.0.1:7000/gpu") {
		t.Error("the driver is not a page")
	}
}

func TestLocalReadingsServeOnlyLocalTargets(t *testing.T) {
	for _, c := range []struct {
		source, host string
		embedded     bool
		want         bool
	}{
		{"nvml", "127.0.0.1:8000", false, true},
		{"nvml", "localhost:8000", false, true},
		{"nvml", "[::1]:8000", false, true},
		{"nvml", "::1", false, true},
		{"nvidia-smi", "gpu-box:8000", false, false},
		{"nvml", "127.0.0.1:8000", true, false},
		{"dcgm http://gpu-box:9400/metrics", "gpu-box:8000", false, true},
	} {
		if got := (&Status{Source: c.source}).Serve(c.host, c.embedded); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestLostAndSplitGPUsAreNotUsable(t *testing.T) {
	s := Status{GPUs: []Reading{{ID: "a"}, {ID: "a/1", Parent: "a"}, {ID: "b"}, {ID: "c", Lost: true}}}
	if got := s.Usable(); len(got) != 2 || got[0].ID != "a/1" || got[1].ID != "b" {
		t.Errorf("%+v", got)
	}
}

func TestReasonsSurviveARecording(t *testing.T) {
	for _, s := range []Status{{}, {State: Connecting}, {State: Looking}, {State: Off}, {Why: "connection refused"}} {
		var back Status
		if back.SetReason(s.Reason()); back.State != s.State || back.Why != s.Why {
			t.Errorf("%+v became %+v", s, back)
		}
	}
}

func TestScopesSurviveARecording(t *testing.T) {
	for kind := AllReplicas; kind <= AllReplicaGone; kind++ {
		s := Scope{Kind: kind, Replica: "r1"}
		if kind == AllReplicas {
			s.Replica = ""
		}
		var got Scope
		if err := got.UnmarshalText([]byte(s.String())); err != nil || got != s {
			t.Errorf("%+v became %+v", s, got)
		}
		if s.All() != (kind == AllWithoutLabels || kind == AllReplicaGone) {
			t.Errorf("%+v: all %t", s, s.All())
		}
	}
	var got Scope
	if err := got.UnmarshalText([]byte("all: no label tells which are those of r1")); err != nil || got != (Scope{AllWithoutLabels, "r1"}) {
		t.Errorf("an earlier recording: %+v", got)
	}
}
