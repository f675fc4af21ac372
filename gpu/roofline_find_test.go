package gpu

import (
	"path/filepath"
	"strings"
	"testing"

	"sonde/probe/opt"
)

func TestParseRoofline(t *testing.T) {
	path := configFile(t, `{`+tinyLlama+`}`)
	for text, want := range map[string]struct {
		model, device string
		gpus          int
	}{
		"Llama-3.1-8B@H100":                              {"Llama-3.1-8B", "NVIDIA H100 SXM5", 1},
		"meta-llama/Llama-3.1-70B-Instruct@4xH100":       {"Llama-3.1-70B", "NVIDIA H100 SXM5", 4},
		" qwen2.5-7b @ 2 × NVIDIA A100-SXM4-80GB":        {"Qwen2.5-7B", "NVIDIA A100 SXM4 80GB", 2},
		"gpt-oss-120b@h100 sxm":                          {"gpt-oss-120b", "NVIDIA H100 SXM5", 1},
		"gpt-oss-120b@4090":                              {"gpt-oss-120b", "GeForce RTX 4090", 1},
		path + "@L4":                                     {"m", "NVIDIA L4", 1},
		filepath.Dir(path) + "@8xB200":                   {"m", "NVIDIA B200", 8},
		"DeepSeek-V3@8*MI300X":                           {"DeepSeek-V3", "AMD Instinct MI300X", 8},
		"Llama-3.1-8B@NVIDIA H100 80GB HBM3 MIG 3g.40gb": {"Llama-3.1-8B", "NVIDIA H100 SXM5", 1},
	} {
		r, err := ParseRoofline(text)
		if err != nil || r.Model.Name != want.model || r.Device.Name != want.device || r.GPUs != want.gpus {
			t.Errorf("%s: %s on %d × %s, %v", text, r.Model.Name, r.GPUs, r.Device.Name, err)
		}
	}
}

func TestParseRooflineRefuses(t *testing.T) {
	for text, want := range map[string][]string{
		"Foo@Bar":              {`no model "Foo" is known: take the path of a config.json, or one of `, "Qwen3-30B-A3B", `; and no GPU "Bar" is known: take one of `, "H100 PCIe"},
		"Foo@H100":             {`no model "Foo"`},
		"Llama-3.1-8B@":        {`no GPU ""`},
		"@H100":                {`no model ""`},
		"Llama-3.1-8B":         {"must be MODEL@GPU"},
		"Llama-3.1-8B@A100":    {`several GPUs are called "A100": take one of A100 SXM4 40GB, A100 PCIe 40GB, A100 SXM4 80GB, A100 PCIe 80GB`},
		"Llama-3.1-8B@0xH100":  {"no GPUs hold no model"},
		"/nowhere/c.json@H100": {"/nowhere/c.json cannot be read: no such file or directory"},
	} {
		_, err := ParseRoofline(text)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v lacks %q", text, err, part)
			}
		}
	}
}

// Names that an error offers have to be understood.
func TestEveryOfferedGPUIsTaken(t *testing.T) {
	for _, row := range peakTable() {
		for _, name := range deviceNames([]peakRow{row}) {
			if _, p, err := deviceAsked(name); err != nil || p != row.wholePart {
				t.Errorf("%s is taken for %q, %v", name, p.Name, err)
			}
		}
	}
}

func TestFindRoofline(t *testing.T) {
	h100 := Reading{ID: "a", Name: "NVIDIA H100 80GB HBM3"}
	other := Reading{ID: "b", Name: "NVIDIA H100 80GB HBM3"}
	slice := Reading{ID: "a/1", Parent: "a", Name: "NVIDIA H100 80GB HBM3 MIG 3g.40gb"}
	slow := Reading{ID: "c", Name: "NVIDIA H100 80GB HBM3", BandwidthPeak: opt.Of(2e12)}
	lost := Reading{ID: "d", Name: "NVIDIA L4", Lost: true}
	for _, c := range []struct {
		what, model string
		seen        []Reading
		together    bool
		gpus        int
		bandwidth   float64
		why         string
	}{
		{"the embedded engine", "sim/Llama-3.1-8B", []Reading{{Name: "simulated A100-SXM4-80GB"}}, true, 1, 2039e9, ""},
		{"one GPU", "meta-llama/Llama-3.1-8B-Instruct", []Reading{h100, lost}, false, 1, 3350e9, ""},
		{"a group", "Llama-3.1-70B", []Reading{h100, other}, true, 2, 3350e9, ""},
		{"a MIG instance", "Llama-3.1-8B", []Reading{h100, slice}, false, 1, 1675e9, ""},
		{"an unusual board", "Llama-3.1-8B", []Reading{slow}, false, 1, 2e12, ""},
		{"a GPU in no table", "Llama-3.1-8B", []Reading{{Name: "AMD 102-G30211-00", BandwidthPeak: opt.Of(5300e9)}}, false, 1, 5300e9, ""},
		{"several GPUs", "Llama-3.1-70B", []Reading{h100, other}, false, 0, 0, "how many share the model is not known"},
		{"mixed GPUs", "Llama-3.1-70B", []Reading{h100, {Name: "NVIDIA L4"}}, true, 0, 0, "not alike"},
		{"no GPU", "Llama-3.1-8B", []Reading{lost}, false, 0, 0, "no GPU of the server can be seen"},
		{"another GPU", "Llama-3.1-8B", []Reading{{Name: "NVIDIA GeForce RTX 4080 SUPER"}}, false, 0, 0, "no peaks are known"},
		{"another model", "my-model", []Reading{h100}, false, 0, 0, `no model "my-model" is known: name its shape`},
		{"no model", "", []Reading{h100}, false, 0, 0, "the model is not known"},
	} {
		r, err := FindRoofline(Seen{Model: c.model, GPUs: c.seen, Together: c.together})
		if c.why != "" {
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if err != nil || r.GPUs != c.gpus || r.Device.Bandwidth != c.bandwidth {
			t.Errorf("%s: %d GPUs of %g bytes/s, %v", c.what, r.GPUs, r.Device.Bandwidth, err)
		}
	}
}

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
