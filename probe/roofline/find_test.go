package roofline

import (
	"path/filepath"
	"strings"
	"testing"

	"sonde/probe/opt"
)

func TestParse(t *testing.T) {
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
		r, err := Parse(text)
		if err != nil || r.Model.Name != want.model || r.Device.Name != want.device || r.GPUs != want.gpus {
			t.Errorf("%s: %s on %d × %s, %v", text, r.Model.Name, r.GPUs, r.Device.Name, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string][]string{
		"Foo@Bar":              {`unknown model "Foo": use the path of a config.json, or one of `, "Qwen3-30B-A3B", `; and unknown GPU "Bar": use one of `, "H100 PCIe"},
		"Foo@H100":             {`unknown model "Foo"`},
		"Llama-3.1-8B@":        {`unknown GPU ""`},
		"@H100":                {`unknown model ""`},
		"Llama-3.1-8B":         {"must be MODEL@GPU"},
		"Llama-3.1-8B@A100":    {`"A100" fits several GPUs: use one of A100 SXM4 40GB, A100 PCIe 40GB, A100 SXM4 80GB, A100 PCIe 80GB`},
		"Llama-3.1-8B@0xH100":  {"at least one GPU"},
		"/nowhere/c.json@H100": {"cannot read /nowhere/c.json: no such file or directory"},
	} {
		_, err := Parse(text)
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
			if _, p, err := findDevice(name); err != nil || p != row.whole {
				t.Errorf("%s is taken for %q, %v", name, p.Name, err)
			}
		}
	}
}

func TestModelOnItsGPUs(t *testing.T) {
	h100 := GPU{Name: "NVIDIA H100 80GB HBM3"}
	slice := GPU{Name: "NVIDIA H100 80GB HBM3 MIG 3g.40gb"}
	slow := GPU{Name: "NVIDIA H100 80GB HBM3", Bandwidth: opt.Of(2e12)}
	for _, c := range []struct {
		what, model string
		seen        []GPU
		together    bool
		gpus        int
		bandwidth   float64
		why         string
	}{
		{"the embedded engine", "sim/Llama-3.1-8B", []GPU{{Name: "simulated A100-SXM4-80GB"}}, true, 1, 2039e9, ""},
		{"one GPU", "meta-llama/Llama-3.1-8B-Instruct", []GPU{h100}, false, 1, 3350e9, ""},
		{"a group", "Llama-3.1-70B", []GPU{h100, h100}, true, 2, 3350e9, ""},
		{"a MIG instance", "Llama-3.1-8B", []GPU{slice}, false, 1, 1675e9, ""},
		{"an unusual board", "Llama-3.1-8B", []GPU{slow}, false, 1, 2e12, ""},
		{"a GPU in no table", "Llama-3.1-8B", []GPU{{Name: "AMD 102-G30211-00", Bandwidth: opt.Of(5300e9)}}, false, 1, 5300e9, ""},
		{"several GPUs", "Llama-3.1-70B", []GPU{h100, h100}, false, 0, 0, "not how many of them share the model"},
		{"mixed GPUs", "Llama-3.1-70B", []GPU{h100, {Name: "NVIDIA L4"}}, true, 0, 0, "the GPUs differ"},
		{"no GPU", "Llama-3.1-8B", nil, false, 0, 0, "no GPU of the server is visible"},
		{"another GPU", "Llama-3.1-8B", []GPU{{Name: "NVIDIA GeForce RTX 4080 SUPER"}}, false, 0, 0, "are unknown: name a GPU"},
		{"another model", "my-model", []GPU{h100}, false, 0, 0, `unknown model "my-model": name one of the same shape`},
		{"no model", "", []GPU{h100}, false, 0, 0, "the model is unknown"},
	} {
		r, err := find(c.model, ModelInfo{}, false, c.seen, c.together)
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

// find resolves the shape, then puts it on the GPUs.
func find(id string, info ModelInfo, local bool, gpus []GPU, oneModel bool) (Roofline, error) {
	m, err := Shape(id, info, local)
	if err != nil {
		return Roofline{}, err
	}
	return On(m, info, gpus, oneModel)
}
