package gpu

import (
	"fmt"
	"regexp"

	"sonde/probe/opt"
)

// resetXids are the Xid codes after which a GPU needs a reset or the machine a
// reboot; most others are faults of an application.
var resetXids = map[int]bool{48: true, 62: true, 64: true, 74: true, 79: true, 95: true, 119: true, 120: true}

// lost: a fault of that class, and nothing else is known of the GPU any more. With
// other values present it is an old fault, because the exporter never clears it.
func (row *dcgmRow) lost() bool { return resetXids[row.xid] && len(row.values) == 0 }

// xidFault tells a fault if it matters.
func xidFault(xid int, meaning string, lost bool) string {
	if !resetXids[xid] {
		return ""
	}
	text := fmt.Sprintf("Xid %d", xid)
	if meaning != "" {
		text += " (" + meaning + ")"
	}
	if lost {
		return "GPU lost: " + text
	}
	return "last fault: " + text
}

// unifiedNames are parts whose GPU has no memory of its own.
var unifiedNames = regexp.MustCompile(`(?i)(^|[\s_-])(gb10|thor|orin)($|[\s_-])`)

// shareHostMemory fills in the system's memory where GPU and CPU share it and the
// page is about this machine. The share of time in which memory is busy stands
// still on such parts.
func shareHostMemory(r *Reading, hostMemory func() (uint64, uint64, bool)) (note string) {
	if r.MemTotal.OK || r.Lost || !unifiedNames.MatchString(r.Name) {
		return ""
	}
	r.MemShared, r.MemBusy = true, opt.Float{}
	if hostMemory == nil {
		return "memory is shared with the CPU and not on this page"
	}
	used, total, ok := hostMemory()
	if !ok {
		return "memory is shared with the CPU"
	}
	r.MemUsed, r.MemTotal = opt.Of(float64(used)), opt.Of(float64(total))
	return "memory is the system's, shared with the CPU"
}
