package nvml

import (
	"os"
	"regexp"
	"strconv"
	"strings"

	"sonde/gpu"
	"sonde/probe/opt"
)

// HostName is this machine's. The IDs of GPUs that have none of their own begin with it.
func HostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return host
}

// HostMemory returns the memory of the machine that a GPU may share, in bytes.
type HostMemory func() (used, total opt.Float)

// SystemMemory is the HostMemory of this machine: used is everything that is not
// available to a new program. It is unknown outside Linux.
func SystemMemory() (used, total opt.Float) {
	text, _ := os.ReadFile("/proc/meminfo")
	return ParseMeminfo(string(text))
}

// ParseMeminfo reads lines such as "MemTotal:  127600748 kB"; kB means KiB there.
func ParseMeminfo(text string) (used, total opt.Float) {
	kib := map[string]float64{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		if v, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil {
			kib[name] = float64(v)
		}
	}
	all, available := kib["MemTotal"], kib["MemAvailable"]
	if available == 0 || available > all {
		return opt.Float{}, opt.Float{}
	}
	return opt.Of((all - available) * 1024), opt.Of(all * 1024)
}

// unifiedNames are parts whose GPU has no memory of its own.
var unifiedNames = regexp.MustCompile(`(?i)(^|[\s_-])(gb10|thor|orin)($|[\s_-])`)

const sharedNote = "memory is the system's, shared with the CPU"

// ShareMemory sets the system's memory where GPU and CPU share it, and returns a note
// about it. host is nil if the reading is not of this machine. The share of time in
// which memory is busy does not move on such parts.
func ShareMemory(r *gpu.Reading, host HostMemory) (note string) {
	if r.MemTotal.OK || r.Lost || !unifiedNames.MatchString(r.Name) {
		return ""
	}
	r.MemShared, r.MemBusy = true, opt.Float{}
	if host == nil {
		return "memory is shared with the CPU and not on this page"
	}
	if r.MemUsed, r.MemTotal = host(); !r.MemTotal.OK {
		return "memory is shared with the CPU"
	}
	return sharedNote
}
