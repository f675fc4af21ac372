package config

import "strings"

// checkRoofline looks at the form only: which models and GPUs there are is not
// known here.
func checkRoofline(c *Config) string {
	at := strings.LastIndexByte(c.Roofline, '@')
	if c.Roofline != "" && (at < 0 || strings.TrimSpace(c.Roofline[:at]) == "" || strings.TrimSpace(c.Roofline[at+1:]) == "") {
		return "must be MODEL@GPU, such as Llama-3.1-8B@H100 or path/to/config.json@4xH100"
	}
	return ""
}
