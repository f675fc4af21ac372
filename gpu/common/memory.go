package common

import (
	"os"
	"regexp"
	"strconv"
	"strings"

	"sonde/gpu"
	"sonde/probe/opt"
)

// HostMemory returns the memory of the machine that a GPU may share, in bytes.
type HostMemory func() (used, total uint64, ok bool)

// SystemMemory is the HostMemory of this machine: used is everything that is not
// available to a new program.
func SystemMemory() (used, total uint64, ok bool) {
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

// unifiedNames are parts whose GPU has no memory of its own.
var unifiedNames = regexp.MustCompile(`(?i)(^|[\s_-])(gb10|thor|orin)($|[\s_-])`)

// SharedNote is for a GPU whose memory is the system's.
const SharedNote = "memory is the system's, shared with the CPU"

// ShareMemory sets the system's memory where GPU and CPU share it and the reading is
// of this machine; host is nil otherwise. The share of time in which memory is busy
// does not move on such parts.
func ShareMemory(r *gpu.Reading, host HostMemory) (note string) {
	if r.MemTotal.OK || r.Lost || !unifiedNames.MatchString(r.Name) {
		return ""
	}
	r.MemShared, r.MemBusy = true, opt.Float{}
	if host == nil {
		return "memory is shared with the CPU and not on this page"
	}
	if !SetHostMemory(r, host) {
		return "memory is shared with the CPU"
	}
	return SharedNote
}

// SetHostMemory sets the system's memory as that of a GPU that shares it.
func SetHostMemory(r *gpu.Reading, host HostMemory) bool {
	used, total, ok := host()
	if ok {
		r.MemShared, r.MemUsed, r.MemTotal = true, opt.Of(float64(used)), opt.Of(float64(total))
	}
	return ok
}
