package doctor

import (
	"fmt"
	"os"
)

// portRangeFile is where Linux tells which ports it gives away; elsewhere it is not
// there.
const portRangeFile = "/proc/sys/net/ipv4/ip_local_port_range"

// ephemeralPorts is the number of local ports that outgoing connections can have;
// 0 if that is not told.
func ephemeralPorts() int {
	text, err := os.ReadFile(portRangeFile)
	if err != nil {
		return 0
	}
	return portsIn(string(text))
}

// portsIn reads a range of ports, "32768	60999", both included.
func portsIn(text string) int {
	var first, last int
	if n, err := fmt.Sscan(text, &first, &last); n != 2 || err != nil || last < first {
		return 0
	}
	return last - first + 1
}
