package doctor

import (
	"fmt"

	"sonde/probe/report/page"
)

// command is what an administrator runs, and where.
type command struct{ where, line string }

// commands holds a command for each Need.
var commands = map[Need]command{
	NeedSGLangMetrics: {"Where SGLang starts, with its other flags:", "python -m sglang.launch_server --enable-metrics"},
	NeedLlamaMetrics:  {"Where llama-server starts, with its other flags:", "llama-server --metrics"},
	NeedExporter: {
		"On the machine with the GPUs, if they are NVIDIA's (Docker with the NVIDIA Container Toolkit):",
		"docker run -d --rm --gpus all --cap-add SYS_ADMIN -p 9400:9400 -e DCGM_EXPORTER_INTERVAL=1000 nvcr.io/nvidia/k8s/dcgm-exporter:4.4.2-4.7.0-distroless",
	},
	NeedOpenFiles: {"In the shell that starts sonde:", "ulimit -n 4096"},
	NeedPorts:     {"On the machine that runs sonde:", `sudo sysctl -w net.ipv4.ip_local_port_range="32768 60999"`},
}

// Markdown is the checklist as one page for a ticket: what was found, by which way and with
// what rights, then what is missing and how to allow it.
func (r *Report) Markdown() string {
	var md page.Markdown
	about := "this machine"
	if r.URL != "" {
		about = r.URL
	}
	md.Linef("## sonde doctor: %s\n\n%s", page.Escape(about), page.Escape(r.verdict()))
	table := page.Section{Title: "what was found"}
	for _, title := range []string{"what", "by which way", "with what rights", "state", "result"} {
		table.Columns = append(table.Columns, page.Column{Title: title, Left: true})
	}
	for _, c := range r.Checks {
		table.Rows = append(table.Rows, []string{c.what(), c.Way, c.Rights, string(c.State), c.Found})
	}
	md.Section(table)
	if r.count(Failed)+r.count(Missing) > 0 {
		md.Linef("\n### What is missing")
	}
	for _, c := range r.Checks {
		if c.State == Failed || c.State == Missing {
			c.lacking(&md)
		}
	}
	return md.String()
}

func (c Check) what() string { return fmt.Sprintf("%s: %s", c.Section, c.Name) }

// lacking writes what is missing, what to do, and the command for it if there is one.
func (c Check) lacking(md *page.Markdown) {
	text := c.what() + ": " + c.Found
	if c.Advice != "" {
		text += " → " + c.Advice
	}
	md.Linef("\n- %s", page.Escape(text))
	if cmd, ok := commands[c.Need]; ok {
		md.Linef("\n  %s\n\n  ```sh\n  %s\n  ```", page.Escape(cmd.where), cmd.line)
	}
}
