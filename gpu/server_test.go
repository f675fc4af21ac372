package gpu

import "testing"

func TestReadingsOfAPage(t *testing.T) {
	s := Status{Source: "dcgm http://127.0.0.1:7000/gpu"}
	for page, want := range map[string]bool{"http://127.0.0.1:7000/gpu": true, "http://u:p@127.0.0.1:7000/gpu?k=1": true, "": false, "http://127.0.0.1:9400/metrics": false} {
		if got := s.Of(page); got != want {
			t.Errorf("%q: %t", page, got)
		}
	}
	if (Status{Source: "nvml"}).Of("http://127.0.0.1:7000/gpu") {
		t.Error("the driver is no page")
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
		{"nvml-gpm", "gpu-box:8000", false, false},
		{"nvml", "127.0.0.1:8000", true, false},
		{"dcgm http://gpu-box:9400/metrics", "gpu-box:8000", false, true},
	} {
		if got := (Status{Source: c.source}).Serve(c.host, c.embedded); got != c.want {
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
