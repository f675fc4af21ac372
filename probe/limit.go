package probe

import (
	"fmt"

	"sonde/probe/process"
)

// ownFiles is what the program opens beside its streams: the terminal, engine
// and GPU readings, a recording, the embedded engine's listener.
const ownFiles = 32

// checkFiles tells before the run whether this process may open as many sockets
// as the load needs. With the embedded engine both ends of each are ours.
func checkFiles(streams int, embedded bool) error {
	limit, known := process.FileLimit()
	perStream := 1
	if embedded {
		perStream = 2
	}
	if need := streams*perStream + ownFiles; !known || uint64(need) <= limit {
		return nil
	}
	fits := max(0, (int(limit)-ownFiles)/perStream)
	return fmt.Errorf("concurrency %d needs %d open files and this process may have %d: raise 'ulimit -n', or ask for at most %d",
		streams, streams*perStream+ownFiles, limit, fits)
}
