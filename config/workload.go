package config

// shortWorkloads fits a line of help.
const shortWorkloads = "chat, rag, code, …"

// workload is a usual pair of prompt and answer lengths.
type workload struct {
	name          string
	input, output int // tokens
}

// workloads are what a prompt and an answer of the kind usually measure. The last
// two lean on one phase of the engine, with enough of the other to be measured.
var workloads = []workload{
	{"chat", 256, 128},
	{"rag", 4096, 256},
	{"agent", 8192, 512},
	{"summarize", 6144, 384},
	{"code", 2048, 1024},
	{"prefill", 8192, 16},
	{"decode", 64, 1024},
}

// demonstration is what the live screen sends to the embedded engine unless something
// else is asked for. On the engine's usual machine the prompt takes about a second
// and the answer some five: long enough to tell prefill and decode apart in readings
// that come once a second. The KV cache has room for 14 such streams.
var demonstration = struct {
	workload
	kvGB float64 // 1e9 bytes
}{workload{"of the demonstration", 8192, 512}, 16}

func workloadNames() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// workloadOf finds a workload by its name; an unknown one is the first.
func workloadOf(name string) workload {
	for _, w := range workloads {
		if w.name == name {
			return w
		}
	}
	return workloads[0]
}
