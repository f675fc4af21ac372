package probe

import (
	"fmt"
	"strings"
	"testing"

	"sonde/probe/process"
)

func TestTooFewFiles(t *testing.T) {
	limit, known := process.FileLimit()
	if !known || limit > 1<<30 {
		t.Skip("no limit here")
	}
	fits := int(limit) - ownFiles
	if err := checkFiles(fits, false); err != nil {
		t.Errorf("%d streams fit: %v", fits, err)
	}
	err := checkFiles(fits+1, false)
	if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("ask for at most %d", fits)) {
		t.Errorf("%d streams: %v", fits+1, err)
	}
	if checkFiles(fits/2+1, true) == nil {
		t.Error("the embedded engine's ends of the sockets were forgotten")
	}
}
