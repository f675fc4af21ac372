package doctor

import (
	"fmt"
	"strings"

	"sonde/probe/plain"
)

// longestLine bounds what a check says.
const longestLine = 400

// oneLine takes out everything that could steer a terminal: texts come from
// servers.
func oneLine(s string) string { return plain.Line(s, longestLine) }

// listed names the first few of many.
func listed(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", …"
}

// counted is a number of things: "1 GPU", "2 GPUs".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
