package doctor

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"time"

	"sonde/probe/api/wire"
	"sonde/probe/opt"
	"sonde/probe/process"
	"sonde/probe/units"
)

// machine examines what a measurement needs of this machine.
func (r *Report) machine(t Terminal) {
	s := r.section("this machine").via("", ownRights())
	s.terminal(t)
	s.stamps(kernelStamps())
	s.files()
	s.ports(localPorts())
	s.cores(runtime.GOMAXPROCS(0), loadAverage())
}

func (s section) stamps(kernel bool, err error) {
	const name = "arrival stamps"
	switch {
	case err != nil:
		s.failed(name, "cannot connect on loopback: "+err.Error(), "allow this program to use the network")
	case kernel:
		s.ok(name, "by the kernel: delays in sonde do not count")
	default:
		where := "measure from Linux (amd64 or arm64)"
		if runtime.GOOS == "linux" {
			where = "measure outside the sandbox: this kernel does not stamp arrivals"
		}
		s.missing(name, "taken when sonde reads: under load, gaps are wrong by as much as reads are late", where+"; sonde doctor --calibrate measures by how much")
	}
}

// kernelStamps sends bytes to ourselves and reports whether the kernel stamped them.
func kernelStamps() (bool, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	link, err := (&wire.Dialer{Addr: l.Addr().String()}).Dial(ctx)
	if err != nil {
		return false, err
	}
	defer link.Close()
	peer, err := l.Accept()
	if err != nil {
		return false, err
	}
	defer peer.Close()
	for range stampTries {
		if _, err := peer.Write([]byte("?")); err != nil {
			return false, err
		}
		if _, err := link.Read(make([]byte, 1)); err != nil {
			return false, err
		}
		if link.Wire.Stamp().Kernel {
			return true, nil
		}
		time.Sleep(stampPause)
	}
	return false, nil
}

// Linux begins to stamp shortly after the first socket has requested it.
const (
	stampTries = 10
	stampPause = 10 * time.Millisecond
)

// loadAverage is how many threads were running or ready to, averaged over the
// last minute. It is known on Linux only.
func loadAverage() opt.Float {
	text, _ := os.ReadFile("/proc/loadavg")
	var load opt.Float
	n, _ := fmt.Sscan(string(text), &load.V)
	load.OK = n == 1
	return load
}

const ownFiles = 32 // opened beside the streams

// streamsThatFit is how many streams the limit on open files allows.
func streamsThatFit() int {
	if limit, known := process.FileLimit(); known && limit <= 1<<30 {
		return max(0, int(limit)-ownFiles)
	}
	return math.MaxInt
}

// usualStreams is the default of --max-concurrency.
const usualStreams = 256

func (s section) files() {
	const name = "open files"
	switch fit := streamsThatFit(); {
	case fit == math.MaxInt:
		s.ok(name, "no practical limit")
	case fit < usualStreams:
		s.needs(NeedOpenFiles).missing(name, fmt.Sprintf("limit %d: enough for %d streams", fit+ownFiles, fit), "raise it with 'ulimit -n 4096'")
	default:
		s.ok(name, fmt.Sprintf("limit %d: enough for %s streams", fit+ownFiles, units.WholeCommas(float64(fit))))
	}
}

// ports are what one address can have open to one server at a time.
func (s section) ports(n int) {
	const name = "local ports"
	switch {
	case n == 0:
	case n < usualStreams:
		s.needs(NeedPorts).missing(name, fmt.Sprintf("%d: allows that many streams to one server", n), "widen net.ipv4.ip_local_port_range with sysctl")
	default:
		s.ok(name, fmt.Sprintf("%s: allows that many streams to one server", units.WholeCommas(float64(n))))
	}
}

// cores examines the processor: n cores are ours to use; busy is the load average.
func (s section) cores(n int, busy opt.Float) {
	const (
		name = "processor"
		away = "keep other work off this machine, or use sonde bench, which draws nothing"
	)
	cores := units.Count(n, "core")
	load := ""
	if busy.OK {
		load = fmt.Sprintf(", load %.1f over the last minute", busy.V)
	}
	switch {
	case busy.OK && busy.V >= float64(n):
		s.missing(name, cores+load+": sonde has to wait for the processor", away)
	case n < 2:
		s.missing(name, cores+load+": drawing and measuring share it", away)
	default:
		s.ok(name, cores+load)
	}
}

// localPorts is the number of local ports for outgoing connections; 0 if it is
// unknown, as everywhere except on Linux.
func localPorts() int {
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	return portsIn(string(text))
}

// portsIn reads a range of ports, "32768	60999", both included.
func portsIn(text string) int {
	var first, last int
	if n, _ := fmt.Sscan(text, &first, &last); n != 2 {
		return 0
	}
	return max(0, last-first+1)
}
