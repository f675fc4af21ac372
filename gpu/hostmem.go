package gpu

import (
	"os"
	"strconv"
	"strings"
)

// systemMemory is the host's memory in bytes, for GPUs that share it: used is
// everything that is not available to a new program.
func systemMemory() (used, total uint64, ok bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0, false // not Linux
	}
	return parseMeminfo(string(text))
}

// parseMeminfo reads lines such as "MemTotal:  127600748 kB"; kB means KiB there.
func parseMeminfo(text string) (used, total uint64, ok bool) {
	kib := map[string]uint64{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		if v, err := strconv.ParseUint(fields[0], 10, 64); err == nil {
			kib[name] = v
		}
	}
	total, available := kib["MemTotal"], kib["MemAvailable"]
	if total == 0 || available == 0 || available > total {
		return 0, 0, false
	}
	return (total - available) << 10, total << 10, true
}
